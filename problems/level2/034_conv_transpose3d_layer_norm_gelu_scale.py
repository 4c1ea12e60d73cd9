"""4x4x4 transposed convolution with stride 2, layer norm over the channels at every voxel, exact GELU, scale. The
norm of the public problem 34 of level 2 is made for as many values as there are channels but is given the last axis,
which happens to be as long; here it gets the channels. It is not the identity, and neither is the scale."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "small": {"batch": 2, "in_channels": 8, "out_channels": 16, "depth": 5, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 11, "depth": 5, "side": 17},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 * depth, 2 * side, 2 * side)."""

    def __init__(self, in_channels: int, out_channels: int, scale: float):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 4, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=(8 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.LayerNorm(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.conv(x).permute(0, 2, 3, 4, 1))
        return F.gelu(y).permute(0, 4, 1, 2, 3).contiguous() * self.scale


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
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    return [x * 0.5 + 2]  # the channels of a voxel share a mean above their spread


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, depth: int = 8, side: int = 32
) -> list:
    return [in_channels, out_channels, 1.5]
