"""Minimum over the last axis: short rows in great number. The public problem 53 reduces the middle axis like its
problem 49, and the minimum of 4096 uniform [0, 1) values is so near to zero that zeros pass; here every row has its
own level and spread."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4096, "rows": 1024, "cols": 255},
    "medium": {"batch": 1024, "rows": 1024, "cols": 255},
    "small": {"batch": 32, "rows": 448, "cols": 255},
    "odd": {"batch": 31, "rows": 457, "cols": 251},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, rows, cols) -> (batch, rows) for dim 2."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.amin(x, dim=self.dim)


def get_inputs(*, batch: int = 4096, rows: int = 1024, cols: int = 255, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, rows, cols)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    level, spread = torch.randn(batch, rows, 1), torch.rand(batch, rows, 1)
    if family == "wide":  # one outlier sets the minimum
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # every minimum is positive, and an accumulator that starts at zero wins by mistake
        return [x + 20 + level]
    return [x * (spread + 0.1) + level * 2]


def get_init_inputs(*, batch: int = 4096, rows: int = 1024, cols: int = 255) -> list:
    return [2]
