"""Instance norm: every channel of every image by its own mean and variance. Unlike the public problem 34 there is a
weight and a bias for each channel, and every plane has its own brightness and contrast, which the norm takes out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 64, "side": 512},
    "medium": {"batch": 8, "channels": 64, "side": 512},
    "small": {"batch": 5, "channels": 24, "side": 112},
    "odd": {"batch": 3, "channels": 29, "side": 127},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side, side)."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.InstanceNorm2d(channels, affine=True)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs(*, batch: int = 32, channels: int = 64, side: int = 512, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "large_mean":  # the mean squared is 10^4 times the variance
        return [x + 100]
    brightness, contrast = torch.randn(batch, channels, 1, 1), torch.rand(batch, channels, 1, 1)
    if family == "wide":  # contrasts over three decades
        return [(x + brightness) * 10 ** (contrast * 3 - 1)]
    return [torch.rand(shape) * (contrast + 0.1) + brightness]


def get_init_inputs(*, batch: int = 32, channels: int = 64, side: int = 512) -> list:
    return [channels]
