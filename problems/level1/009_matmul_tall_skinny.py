"""A matrix of millions of rows times a small square one, bound by memory. The public problem 9 is its problem 7 once
more (two long outer axes round a short inner one); here only the rows are long, as the name says."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 8388608, "inner": 64, "cols": 64},
    "medium": {"rows": 2097152, "inner": 64, "cols": 64},
    "small": {"rows": 14336, "inner": 64, "cols": 64},
    "odd": {"rows": 14347, "inner": 61, "cols": 67},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, inner) @ (inner, cols) -> (rows, cols)."""

    def forward(self, tall: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return torch.matmul(tall, square)


def get_inputs(*, rows: int = 8388608, inner: int = 64, cols: int = 64, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    tall, square = torch.randn(rows, inner), torch.randn(inner, cols)
    if family == "wide":  # rows of unlike magnitude
        tall = tall * 10 ** (torch.rand(rows, 1) * 2 - 1)
    return [tall, square]


def get_init_inputs(*, rows: int = 8388608, inner: int = 64, cols: int = 64) -> list:
    return []
