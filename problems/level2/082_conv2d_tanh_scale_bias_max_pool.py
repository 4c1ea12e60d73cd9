"""3x3 convolution, tanh, a factor for each channel, a bias for each channel, 4x4 max pool. As the public problem 82
of level 2, where the factor is one positive constant and the pool can be moved in front of it; here a channel's
factor is of either sign. The convolution keeps the size, and what is left over at the end is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 128},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 128},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 31, "side": 61},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side // 4, side // 4)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=0.5 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.3)
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1) * 2)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(torch.tanh(self.conv(x)) * self.scale + self.bias, 4)


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x + 1]  # bright images: many pixels saturate tanh


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128) -> list:
    return [in_channels, out_channels]
