"""5x5 convolution that keeps the size, division by a constant, leaky ReLU. As the public problem 71 of level 2, whose
kernel is 3x3 and whose negative side, at a slope of 0.01, hardly counts."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 128},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 128},
    "small": {"batch": 8, "in_channels": 6, "out_channels": 32, "side": 56},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 31, "side": 61},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side, side)."""

    def __init__(self, in_channels: int, out_channels: int, divisor: float, slope: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 5, padding=2)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.divisor = divisor
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(self.conv(x) / self.divisor, self.slope)


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128) -> list:
    return [in_channels, out_channels, 2.0, 0.2]
