"""3x3 convolution with dilation 2, a factor for each channel, leaky ReLU, exact GELU. As the public problem 54 of
level 2, whose convolution is dense, with signed values; the factors are of either sign."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 32, "out_channels": 64, "side": 192},
    "medium": {"batch": 16, "in_channels": 32, "out_channels": 64, "side": 192},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 3, "in_channels": 11, "out_channels": 31, "side": 69},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side, side)."""

    def __init__(self, in_channels: int, out_channels: int, slope: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=2, dilation=2)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.multiplier = nn.Parameter(torch.randn(out_channels, 1, 1) * 1.5)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(F.leaky_relu(self.conv(x) * self.multiplier, self.slope))


def get_inputs(
    *, batch: int = 64, in_channels: int = 32, out_channels: int = 64, side: int = 192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(side) < side // 2)]  # the right half of every image is padding: only the biases speak


def get_init_inputs(*, batch: int = 64, in_channels: int = 32, out_channels: int = 64, side: int = 192) -> list:
    return [in_channels, out_channels, 0.1]
