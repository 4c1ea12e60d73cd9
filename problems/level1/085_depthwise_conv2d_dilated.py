"""3 x 7 depthwise convolution with every other column left out, padded so that the image keeps its sides, with a
bias. The public problem 85 takes unlike strides, paddings and dilations on the two axes and sets them all alike."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "channels": 128, "height": 128, "width": 256},
    "medium": {"batch": 16, "channels": 128, "height": 128, "width": 256},
    "small": {"batch": 3, "channels": 24, "height": 80, "width": 112},
    "odd": {"batch": 3, "channels": 23, "height": 73, "width": 113},
}
INPUTS = ("default", "signed", "sparse", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, height, width) -> (batch, channels, height, width)."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, (3, 7), padding=(1, 6), dilation=(1, 2), groups=channels)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 64, channels: int = 128, height: int = 128, width: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    if family == "large_mean":  # the padding stands out against the rest
        return [x + 3]
    return [x]


def get_init_inputs(*, batch: int = 64, channels: int = 128, height: int = 128, width: int = 256) -> list:
    return [channels]
