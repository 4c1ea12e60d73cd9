"""3x3x3 convolution, a factor for each slice along the depth, instance norm, clamp to [-1, 1], a factor for each
channel, maximum over the channels. In the public problem 79 of level 2 one factor for each channel is applied twice,
and the norm cancels the first time; a slice's factor stays. The convolution has no bias, which the norm would cancel
too."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 32, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 8, "in_channels": 3, "out_channels": 16, "depth": 10, "side": 32},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 13, "depth": 9, "side": 31},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, depth - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, depth: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3, bias=False)
        self.of_slice = nn.Parameter(torch.rand(depth - 2, 1, 1) + 0.5)
        self.norm = nn.InstanceNorm3d(out_channels)
        self.of_channel = nn.Parameter(torch.randn(out_channels, 1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.clamp(self.norm(self.conv(x) * self.of_slice), -1.0, 1.0)
        return (y * self.of_channel).amax(dim=1)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 4]  # a channel's mean lies far above its spread


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, depth]
