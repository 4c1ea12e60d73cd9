"""3x3 convolution, mish, mish. As the public problem 4 of level 2, with signed values of a scale at which mish is
neither zero nor the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 32, "out_channels": 64, "side": 192},
    "medium": {"batch": 16, "in_channels": 32, "out_channels": 64, "side": 192},
    "small": {"batch": 10, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 37, "side": 67},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mish(F.mish(self.conv(x)))


def get_inputs(
    *, batch: int = 64, in_channels: int = 32, out_channels: int = 64, side: int = 192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-3, 3)
        return [torch.rand(shape) * 6 - 3]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, batch: int = 64, in_channels: int = 32, out_channels: int = 64, side: int = 192) -> list:
    return [in_channels, out_channels]
