"""C = A^T @ B^T: both operands are read across their rows. As the public problem 18 with signed values and other
proportions."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"inner": 4096, "rows": 8192, "cols": 4096},
    "medium": {"inner": 4096, "rows": 4096, "cols": 2048},
    "small": {"inner": 640, "rows": 736, "cols": 448},
    "odd": {"inner": 631, "rows": 733, "cols": 443},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """a (inner, rows), b (cols, inner) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a.T, b.T)


def get_inputs(*, inner: int = 4096, rows: int = 8192, cols: int = 4096, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(inner, rows) * 2 - 1, torch.rand(cols, inner) * 2 - 1]
    a, b = torch.randn(inner, rows), torch.randn(cols, inner)
    if family == "wide":  # rows and columns of the product of unlike magnitude
        return [a * 10 ** (torch.rand(rows) * 2 - 1), b * 10 ** (torch.rand(cols, 1) * 2 - 1)]
    return [a, b]


def get_init_inputs(*, inner: int = 4096, rows: int = 8192, cols: int = 4096) -> list:
    return []
