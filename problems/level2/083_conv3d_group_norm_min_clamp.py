"""3x3x3 convolution, group norm, minimum with a ceiling for each channel, clamp. In the public problem 83 of level 2
the ceiling is 0 and the clamp is to [0, 1], so that every answer is zero; here both take their part, some ceilings
lie below the clamp's and some above. There is no dropout."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64, "groups": 8},
    "medium": {"batch": 32, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64, "groups": 8},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 10, "side": 32, "groups": 8},
    "odd": {"batch": 5, "in_channels": 5, "out_channels": 15, "depth": 9, "side": 31, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 2, side - 2, side - 2); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int, low: float, high: float):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.3)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.ceiling = nn.Parameter(torch.rand(out_channels, 1, 1, 1) * 2)
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.minimum(self.norm(self.conv(x)), self.ceiling)
        return torch.clamp(y, self.low, self.high)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    groups: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 4]  # a channel's mean lies far above its spread


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups, -1.0, 1.0]
