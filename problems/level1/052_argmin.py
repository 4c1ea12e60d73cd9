"""Index of the minimum of every row, int64. The public problem 52 is the mirror of its problem 51; here the rows lie
along the last axis and are as long as a codebook, so one index comes of many neighbouring values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "cols": 32768},
    "medium": {"rows": 8192, "cols": 32768},
    "small": {"rows": 448, "cols": 8192},
    "odd": {"rows": 433, "cols": 8191},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows,) int64 in [0, cols) for dim 1."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmin(x, dim=self.dim)


def get_inputs(*, rows: int = 32768, cols: int = 32768, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1]
    x = torch.randn(rows, cols)
    if family == "wide":
        return [x * 10 ** (torch.rand(rows, cols) * 6 - 3)]
    if family == "ties":  # a dozen distinct values: the least stands in several places, any of them right
        return [(x * 2).round()]
    return [x]


def get_init_inputs(*, rows: int = 32768, cols: int = 32768) -> list:
    return [1]
