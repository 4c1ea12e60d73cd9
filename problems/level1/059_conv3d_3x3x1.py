"""3 x 3 x 1 convolution: slices that lie along the last axis of memory are convolved each by itself, so a 2D kernel
would read with a stride. As the public problem 59 with signed values; in one family the slices differ in magnitude."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 3, "out_channels": 64, "height": 256, "width": 256, "slices": 10},
    "medium": {"batch": 4, "in_channels": 3, "out_channels": 64, "height": 256, "width": 256, "slices": 10},
    "small": {"batch": 2, "in_channels": 6, "out_channels": 32, "height": 48, "width": 48, "slices": 10},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 29, "height": 41, "width": 37, "slices": 11},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width, slices) -> (batch, out, height - 2, width - 2, slices)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, (3, 3, 1), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 3,
    out_channels: int = 64,
    height: int = 256,
    width: int = 256,
    slices: int = 10,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width, slices)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # a slice that leaks into its neighbour is far off
        return [x * 10 ** (torch.rand(slices) * 2 - 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 16,
    in_channels: int = 3,
    out_channels: int = 64,
    height: int = 256,
    width: int = 256,
    slices: int = 10,
) -> list:
    return [in_channels, out_channels]
