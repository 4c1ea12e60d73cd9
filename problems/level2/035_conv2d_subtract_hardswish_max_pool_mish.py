"""3x3 convolution, minus a constant, hardswish, 2x2 max pool, mish. As the public problem 35 of level 2, with values
on both sides of hardswish's bends and a convolution that keeps the size; an odd row or column at the end is not
pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 128},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 128},
    "small": {"batch": 12, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 31, "side": 73},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side // 2, side // 2)."""

    def __init__(self, in_channels: int, out_channels: int, subtrahend: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, mean=-0.5, std=0.5)
        self.subtrahend = subtrahend

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.hardswish(self.conv(x) - self.subtrahend)
        return F.mish(F.max_pool2d(y, 2))


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # one pixel in a hundred is ten times as bright, in all channels
    return [torch.where(torch.rand(batch, 1, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128) -> list:
    return [in_channels, out_channels, 0.5]
