"""x / (1 + |x|), elementwise. Unlike the public problem 30 the values are signed, so the magnitude matters, and
spread over the bend."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "channels": 64, "side": 256},
    "medium": {"batch": 32, "channels": 64, "side": 256},
    "small": {"batch": 4, "channels": 32, "side": 108},
    "odd": {"batch": 3, "channels": 37, "side": 109},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side, side) in (-1, 1)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softsign(x)


def get_inputs(*, batch: int = 128, channels: int = 64, side: int = 256, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 6 - 3)]
    return [x if family == "signed" else x * 3]


def get_init_inputs(*, batch: int = 128, channels: int = 64, side: int = 256) -> list:
    return []
