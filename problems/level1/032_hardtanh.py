"""Clamp to [low, high], elementwise. Unlike the public problem 32, where uniform [0, 1) values pass unchanged, half
of the values lie outside, the interval is not symmetric, and it is another one at the odd size."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 4096, "cols": 131072, "low": -0.5, "high": 1.0},
    "medium": {"rows": 4096, "cols": 32768, "low": -0.5, "high": 1.0},
    "small": {"rows": 512, "cols": 3072, "low": -0.5, "high": 1.0},
    "odd": {"rows": 509, "cols": 2999, "low": -1.25, "high": 0.75},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols) in [low, high]."""

    def __init__(self, low: float, high: float):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x, self.low, self.high)


def get_inputs(
    *, rows: int = 4096, cols: int = 131072, low: float = -0.5, high: float = 1.0, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(rows, cols) * 4 - 2]
    x = torch.randn(rows, cols)
    return [x * 10 ** (torch.rand(rows, cols) * 4 - 2) if family == "wide" else x]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072, low: float = -0.5, high: float = 1.0) -> list:
    return [low, high]
