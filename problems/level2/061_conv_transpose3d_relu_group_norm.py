"""3x3x3 transposed convolution without a bias, ReLU, group norm. As the public problem 61 of level 2, with signed
values and a group norm whose weight and bias are not the identity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 64, "out_channels": 128, "depth": 16, "side": 32, "groups": 8},
    "medium": {"batch": 8, "in_channels": 64, "out_channels": 64, "depth": 16, "side": 32, "groups": 8},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 16, "depth": 8, "side": 20, "groups": 8},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 21, "depth": 7, "side": 19, "groups": 7},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth + 2, side + 2, side + 2); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, bias=False)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(torch.relu(self.conv(x)))


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 64,
    out_channels: int = 128,
    depth: int = 16,
    side: int = 32,
    groups: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1)]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 64, out_channels: int = 128, depth: int = 16, side: int = 32, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups]
