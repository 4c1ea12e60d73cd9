"""3x3x3 convolution that keeps the size, 2x2x2 max pool, the log of the mean of exp over the channels, ReLU. The
logsumexp of the public problem 43 of level 2 is never below 4, where ReLU is the identity; here the mean instead of
the sum and a bias put it around zero. An odd slice at the end is not pooled."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 128},
    "medium": {"batch": 2, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 128},
    "small": {"batch": 4, "in_channels": 4, "out_channels": 24, "depth": 8, "side": 32},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 23, "depth": 9, "side": 31},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, 1, depth // 2, side // 2, side // 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=1.5 * (27 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, mean=-2.4, std=0.5)
        self.log_channels = math.log(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.logsumexp(F.max_pool3d(self.conv(x), 2), dim=1, keepdim=True)
        return torch.relu(y - self.log_channels)


def get_inputs(
    *,
    batch: int = 8,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # slices from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, depth, 1, 1) * 2 - 1.5)]
    # one voxel in a hundred is ten times as large, in all channels
    return [torch.where(torch.rand(batch, 1, depth, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(
    *, batch: int = 8, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 128
) -> list:
    return [in_channels, out_channels]
