"""1 x 1 convolution with a bias: a matrix product over the channels at every place of an image, with the places side
by side in memory. As the public problem 87 with a quarter of the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 64, "out_channels": 128, "side": 1024},
    "medium": {"batch": 1, "in_channels": 64, "out_channels": 128, "side": 1024},
    "small": {"batch": 3, "in_channels": 32, "out_channels": 64, "side": 88},
    "odd": {"batch": 3, "in_channels": 29, "out_channels": 61, "side": 89},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side, side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 64, out_channels: int = 128, side: int = 1024, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1) * 2 - 1)]
    if family == "spiky":  # one outlier in a thousand
        return [torch.where(torch.rand(shape) < 0.001, 100 * x, x)]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 64, out_channels: int = 128, side: int = 1024) -> list:
    return [in_channels, out_channels]
