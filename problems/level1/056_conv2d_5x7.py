"""5 x 7 convolution on images twice as high as wide, stride 1, no padding, no bias: a kernel with its sides exchanged
gives an output of another shape. As the public problem 56 with half the batch and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 64, "out_channels": 128, "height": 512, "width": 256},
    "medium": {"batch": 1, "in_channels": 64, "out_channels": 128, "height": 512, "width": 256},
    "small": {"batch": 2, "in_channels": 24, "out_channels": 32, "height": 64, "width": 48},
    "odd": {"batch": 3, "in_channels": 23, "out_channels": 29, "height": 59, "width": 43},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height - 4, width - 6)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, (5, 7), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 4,
    in_channels: int = 64,
    out_channels: int = 128,
    height: int = 512,
    width: int = 256,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(
    *, batch: int = 4, in_channels: int = 64, out_channels: int = 128, height: int = 512, width: int = 256
) -> list:
    return [in_channels, out_channels]
