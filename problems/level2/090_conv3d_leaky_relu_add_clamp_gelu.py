"""3x3x3 convolution, leaky ReLU, a learned number added to each channel, clamp to [-1, 1], exact GELU. As the public
problem 90 of level 2, with signed values of a scale at which both limits are reached."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 8, "out_channels": 64, "depth": 16, "side": 64},
    "medium": {"batch": 16, "in_channels": 8, "out_channels": 64, "depth": 16, "side": 64},
    "small": {"batch": 2, "in_channels": 8, "out_channels": 24, "depth": 10, "side": 32},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 19, "depth": 9, "side": 31},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, slope: float):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.slope = slope
        self.added = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 0.7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.leaky_relu(self.conv(x), self.slope) + self.added
        return F.gelu(torch.clamp(y, -1.0, 1.0))


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 8,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-2.5, 2.5)
        return [torch.rand(shape) * 5 - 2.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1)]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 8, out_channels: int = 64, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, 0.2]
