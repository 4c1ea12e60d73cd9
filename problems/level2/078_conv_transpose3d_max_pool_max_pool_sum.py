"""5x5x5 transposed convolution with stride 2, a 2x2x2 max pool and a 3x3x3 one, sum over the channels. As the public
problem 78 of level 2, with volumes of unequal contrast: otherwise the sums, of maxima of 216 values each, are the
same to a few percent. The convolution's output has an odd number of slices, of which the last is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 40},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 40},
    "small": {"batch": 4, "in_channels": 6, "out_channels": 12, "depth": 7, "side": 19},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "depth": 7, "side": 25},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, 1, (depth - 1) // 3, (side - 1) // 3, (side - 1) // 3)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 5, stride=2, padding=2)
        nn.init.normal_(self.conv.weight, std=(15.625 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.max_pool3d(F.max_pool3d(self.conv(x), 2), 3)
        return y.sum(dim=1, keepdim=True)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 40,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x * (torch.rand(batch, 1, 1, 1, 1) + 0.5)]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1)]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 40
) -> list:
    return [in_channels, out_channels]
