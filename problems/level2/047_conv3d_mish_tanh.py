"""3x3x3 convolution, mish, tanh. As the public problem 47 of level 2, with signed values of a scale that bends
both."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 64},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 64},
    "small": {"batch": 2, "in_channels": 6, "out_channels": 16, "depth": 10, "side": 32},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 17, "depth": 11, "side": 27},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(F.mish(self.conv(x)))


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1)]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels]
