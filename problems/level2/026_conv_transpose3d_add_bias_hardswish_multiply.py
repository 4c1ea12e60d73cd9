"""y = 3x3x3 transposed convolution with stride 2, plus a second input, plus a bias for each channel, then y *
hardswish(y). The public problem 26 of level 2 has the bias but never uses it. The convolution has no bias of its
own."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 8, "depth": 4, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 11, "depth": 5, "side": 15},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (batch, in, depth, side, side), added (batch, out, 2 * depth, 2 * side, 2 * side) -> the shape of added."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=(3.375 * in_channels) ** -0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1))

    def forward(self, x: torch.Tensor, added: torch.Tensor) -> torch.Tensor:
        y = self.conv(x) + added + self.bias
        return y * F.hardswish(y)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 8,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    added = torch.randn(batch, out_channels, 2 * depth, 2 * side, 2 * side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2, added]
    x = torch.randn(shape)
    if family == "signed":
        return [x, added]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5), added]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1), added]


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, depth: int = 8, side: int = 32
) -> list:
    return [in_channels, out_channels]
