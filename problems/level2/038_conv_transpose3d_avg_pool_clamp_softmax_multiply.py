"""2x2x2 average pool, 3x3x3 transposed convolution with stride 2, clamp, softmax over all voxels of a channel, a
scale for each channel. The values of the public problem 38 of level 2 lie in [0, 1], so that its softmax is the same
small number everywhere; here they reach from -3 to 3, and the scale is around the number of voxels, so that the
answers are around one."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 64},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 64},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 12, "depth": 8, "side": 32},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "depth": 10, "side": 34},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth, side, side), depth and side even."""

    def __init__(self, in_channels: int, out_channels: int, limit: float, voxels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=3 * (3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias)
        self.limit = limit
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * voxels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.clamp(self.conv(F.avg_pool3d(x, 2)), -self.limit, self.limit)
        return torch.softmax(y.flatten(2), dim=2).view_as(y) * self.scale


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-4, 4)
        return [torch.rand(shape) * 8 - 4]
    x = torch.randn(shape)
    if family == "signed":
        return [x * 2]
    if family == "wide":  # volumes from faint, where softmax is nearly uniform, to loud, where the clamp rules it
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1)]
    # one voxel in a hundred is ten times as large, in all channels
    return [torch.where(torch.rand(batch, 1, depth, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, 3.0, depth * side * side]
