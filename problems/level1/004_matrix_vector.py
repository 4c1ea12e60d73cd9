"""Matrix times column vector, bound by reading the matrix. Unlike the public problem 4 the values are signed (a dot
product of a million uniform [0, 1) values is a constant to a tenth of a percent) and the matrix has half the bytes."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 4096, "cols": 262144},
    "medium": {"rows": 4096, "cols": 65536},
    "small": {"rows": 112, "cols": 32768},
    "odd": {"rows": 107, "cols": 32771},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) @ (cols, 1) -> (rows, 1)."""

    def forward(self, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, x)


def get_inputs(*, rows: int = 4096, cols: int = 262144, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1, torch.rand(cols, 1) * 2 - 1]
    a, x = torch.randn(rows, cols), torch.randn(cols, 1)
    if family == "wide":  # rows of unlike magnitude
        return [a * 10 ** (torch.rand(rows, 1) * 4 - 2), x]
    if family == "sparse":  # one in a hundred entries of the vector counts, so a lost one is seen
        return [a, x * (torch.rand(cols, 1) < 0.01)]
    return [a, x]


def get_init_inputs(*, rows: int = 4096, cols: int = 262144) -> list:
    return []
