"""3x3x3 convolution that keeps the size, division by a constant, 2x2x2 max pool, average over the volume, a bias for
each channel, sum over the channels. As the public problem 8 of level 2, with channels of unequal contrast: otherwise
the one number of each volume is the same to a percent."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 8, "in_channels": 6, "out_channels": 12, "depth": 8, "side": 32},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 13, "depth": 9, "side": 31},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, 1, 1, 1)."""

    def __init__(self, in_channels: int, out_channels: int, divisor: float):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=2 * (27 * in_channels) ** -0.5)
        self.divisor = divisor
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.max_pool3d(self.conv(x) / self.divisor, 2)
        return (y.mean(dim=(2, 3, 4), keepdim=True) + self.bias).sum(dim=1)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 8,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x * (torch.rand(batch, in_channels, 1, 1, 1) + 0.5)]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # point clouds: from hardly any to half of the voxels are not zero
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < torch.rand(batch, 1, 1, 1, 1) / 2)]


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, 2.0]
