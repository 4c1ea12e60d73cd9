"""3x3 convolution, minus a constant, tanh, minus a bias for each channel, 2x2 average pool. As the public problem 46
of level 2, with signed values, a second subtrahend that is learned, and a convolution that keeps the size; an odd row
or column at the end is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 128},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 128},
    "small": {"batch": 10, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 5, "in_channels": 9, "out_channels": 23, "side": 71},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side // 2, side // 2)."""

    def __init__(self, in_channels: int, out_channels: int, first: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=1.2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.first = first
        self.second = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.avg_pool2d(torch.tanh(self.conv(x) - self.first) - self.second, 2)


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x + 1.5]  # bright images: half of the channels saturate


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128) -> list:
    return [in_channels, out_channels, 0.5]
