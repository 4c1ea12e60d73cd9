"""Inclusive prefix sum over the last axis. Unlike the public problem 89 the values are signed: sums of uniform
[0, 1) values are the ramp i / 2 to within a percent."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "cols": 16384},
    "medium": {"rows": 8192, "cols": 16384},
    "small": {"rows": 512, "cols": 2048},
    "odd": {"rows": 503, "cols": 2003},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, dim=-1)


def get_inputs(*, rows: int = 32768, cols: int = 16384, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1]
    x = torch.randn(rows, cols)
    if family == "wide":
        return [x * 10 ** (torch.rand(rows, cols) * 6 - 3)]
    if family == "large_mean":  # the sums grow far beyond the values
        return [x + 10]
    return [x]


def get_init_inputs(*, rows: int = 32768, cols: int = 16384) -> list:
    return []
