"""Maximum over the middle axis. Unlike the public problem 49, where the maximum of 4096 uniform [0, 1) values is 1 to
within a thousandth, every column has its own level and spread; in one family the maxima are negative."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "length": 4096, "cols": 4095},
    "medium": {"batch": 32, "length": 2048, "cols": 4095},
    "small": {"batch": 8, "length": 512, "cols": 895},
    "odd": {"batch": 7, "length": 521, "cols": 887},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, length, cols) -> (batch, cols) for dim 1."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.amax(x, dim=self.dim)


def get_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, length, cols)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    level, spread = torch.randn(batch, 1, cols), torch.rand(batch, 1, cols)
    if family == "wide":  # one outlier sets the maximum
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # an accumulator that starts at zero wins by mistake
        return [x - 20 + level]
    return [x * (spread + 0.1) + level * 2]


def get_init_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095) -> list:
    return [1]
