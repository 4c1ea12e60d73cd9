"""3 x 5 x 7 convolution of short clips that keeps the frames and halves both sides: the first layer of a video
network. The public problem 66 differs from its problem 60 in the input's sides only; here the stride does too, and
there is padding."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 3, "out_channels": 64, "frames": 16, "height": 128, "width": 128},
    "medium": {"batch": 8, "in_channels": 3, "out_channels": 64, "frames": 16, "height": 128, "width": 128},
    "small": {"batch": 2, "in_channels": 3, "out_channels": 24, "frames": 10, "height": 64, "width": 48},
    "odd": {"batch": 3, "in_channels": 4, "out_channels": 23, "frames": 7, "height": 47, "width": 51},
}
INPUTS = ("default", "signed", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, frames, height, width) -> (batch, out, frames, ceil(height / 2), ceil(width / 2))."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, (3, 5, 7), stride=(1, 2, 2), padding=(1, 2, 3), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 3,
    out_channels: int = 64,
    frames: int = 16,
    height: int = 128,
    width: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, frames, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "large_mean":  # the padding stands out against the rest
        return [x + 3]
    return [x]


def get_init_inputs(
    *,
    batch: int = 32,
    in_channels: int = 3,
    out_channels: int = 64,
    frames: int = 16,
    height: int = 128,
    width: int = 128,
) -> list:
    return [in_channels, out_channels]
