"""3x3 convolution without a bias, minus a number for each channel, minus an image that all channels share, mish. The
public problem 87 of level 2 subtracts two constants, which are one constant."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 160},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 160},
    "small": {"batch": 10, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 5, "in_channels": 7, "out_channels": 29, "side": 59},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, side: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, bias=False)
        self.of_channel = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.5)
        self.of_pixel = nn.Parameter(torch.randn(side - 2, side - 2) * 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mish(self.conv(x) - self.of_channel - self.of_pixel)


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 160, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2.5, 2.5)
        return [torch.rand(shape) * 5 - 2.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 160) -> list:
    return [in_channels, out_channels, side]
