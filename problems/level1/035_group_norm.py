"""Group norm with a weight and a bias for each channel. Unlike the public problem 35 these are not the identity, and
the channels of a group differ in mean and spread, so an instance norm or a norm over another grouping is far off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "channels": 128, "side": 256, "groups": 8},
    "medium": {"batch": 16, "channels": 128, "side": 256, "groups": 8},
    "small": {"batch": 4, "channels": 48, "side": 96, "groups": 8},
    "odd": {"batch": 3, "channels": 39, "side": 113, "groups": 13},
}
INPUTS = ("default", "wide", "large_mean", "near_zero")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> the same; groups divides channels."""

    def __init__(self, groups: int, channels: int):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs(
    *, batch: int = 64, channels: int = 128, side: int = 256, groups: int = 8, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "near_zero":  # so quiet that eps counts
        return [x * 0.01]
    if family == "large_mean":  # the mean squared is 10^4 times the variance
        return [x + 100]
    mean, spread = torch.randn(batch, channels, 1, 1), torch.rand(batch, channels, 1, 1)
    if family == "wide":  # loud and silent channels in one group
        return [x * 10 ** (spread * 2 - 1) + mean]
    return [x * (spread + 0.2) + mean]


def get_init_inputs(*, batch: int = 64, channels: int = 128, side: int = 256, groups: int = 8) -> list:
    return [groups, channels]
