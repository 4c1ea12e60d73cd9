"""Maximum over overlapping windows of 4 x 4 that move by one, so an input is read sixteen times. As the public
problem 42 with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 64, "side": 512},
    "medium": {"batch": 8, "channels": 64, "side": 512},
    "small": {"batch": 3, "channels": 16, "side": 108},
    "odd": {"batch": 3, "channels": 17, "side": 103},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side - 1, side - 1) for the kernel 4, padding 1."""

    def __init__(self, kernel: int, stride: int, padding: int, dilation: int):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(*, batch: int = 32, channels: int = 64, side: int = 512, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over four decades, mostly negative
        return [(x - 1) * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "ties":  # a dozen distinct values
        return [(x * 2).round()]
    return [torch.rand(shape) * 2 - 1 + torch.randn(batch, channels, 1, 1)]


def get_init_inputs(*, batch: int = 32, channels: int = 64, side: int = 512) -> list:
    return [4, 1, 1, 1]
