"""C = A @ B for rectangular matrices with a long inner axis. Unlike the public problem 2 the values are signed:
products of uniform [0, 1) values all lie close to inner / 4."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 4096, "inner": 8192, "cols": 6144},
    "medium": {"rows": 2048, "inner": 8192, "cols": 4096},
    "small": {"rows": 320, "inner": 1024, "cols": 640},
    "odd": {"rows": 313, "inner": 1021, "cols": 643},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, inner) @ (inner, cols) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def get_inputs(*, rows: int = 4096, inner: int = 8192, cols: int = 6144, family: str = "default") -> list[torch.Tensor]:
    a, b = torch.randn(rows, inner), torch.randn(inner, cols)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    if family == "wide":  # every row of A and every column of B has a magnitude of its own
        return [a * 10 ** (torch.rand(rows, 1) * 2 - 1), b * 10 ** (torch.rand(1, cols) * 2 - 1)]
    return [a, b]


def get_init_inputs(*, rows: int = 4096, inner: int = 8192, cols: int = 6144) -> list:
    return []
