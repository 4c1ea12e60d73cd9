"""Depthwise convolution with a column of three taps and a bias, few channels and many images. As the public problem
83 on four times the batch, with a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 256, "channels": 8, "side": 512},
    "medium": {"batch": 64, "channels": 8, "side": 512},
    "small": {"batch": 12, "channels": 8, "side": 112},
    "odd": {"batch": 13, "channels": 7, "side": 109},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side - 2, side)."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, (3, 1), groups=channels)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(*, batch: int = 256, channels: int = 8, side: int = 512, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(channels, 1, 1) * 2 - 1)]
    if family == "spiky":  # one outlier in a thousand
        return [torch.where(torch.rand(shape) < 0.001, 100 * x, x)]
    return [x]


def get_init_inputs(*, batch: int = 256, channels: int = 8, side: int = 512) -> list:
    return [channels]
