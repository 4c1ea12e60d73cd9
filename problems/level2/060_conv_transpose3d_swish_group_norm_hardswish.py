"""3x3x3 transposed convolution with stride 2, swish, group norm, hardswish. As the public problem 60 of level 2, with
signed values and a group norm whose weight and bias are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64, "groups": 4},
    "medium": {"batch": 8, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64, "groups": 4},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 6, "side": 20, "groups": 4},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 15, "depth": 7, "side": 17, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 * depth - 1, 2 * side - 1, 2 * side - 1); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=1.5 * (3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardswish(self.norm(F.silu(self.conv(x))))


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    groups: int = 4,
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
    return [x * 0.5 + 1]  # a channel's mean lies above its spread


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64, groups: int = 4
) -> list:
    return [in_channels, out_channels, groups]
