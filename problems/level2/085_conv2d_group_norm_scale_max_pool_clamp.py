"""3x3 convolution, group norm, a scale of either sign for each channel, 4x4 max pool, clamp. In the public problem 85
of level 2 more than half of the maxima lie above 1, where its clamp ends, and norm and scale are as good as absent;
here a third is clamped. What is left over at the end is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 128, "groups": 16},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 128, "groups": 16},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64, "groups": 8},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 33, "side": 61, "groups": 11},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side // 4, side // 4); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int, low: float, high: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.bias, std=0.3)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1))
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.max_pool2d(self.norm(self.conv(x)) * self.scale, 4)
        return torch.clamp(y, self.low, self.high)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 8,
    out_channels: int = 64,
    side: int = 128,
    groups: int = 16,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 4]  # bright images of little contrast: a channel's mean lies far above its spread


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128, groups: int = 16
) -> list:
    return [in_channels, out_channels, groups, 0.4, 2.5]
