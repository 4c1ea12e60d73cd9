"""3x3x3 convolution, group norm, mean over the channels and the depth. The mean over everything that the public
problem 23 of level 2 takes is a constant after a norm, and zero as the norm's bias is."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 512, "in_channels": 3, "out_channels": 24, "depth": 24, "side": 32, "groups": 8},
    "medium": {"batch": 128, "in_channels": 3, "out_channels": 24, "depth": 24, "side": 32, "groups": 8},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 24, "depth": 12, "side": 32, "groups": 8},
    "odd": {"batch": 5, "in_channels": 5, "out_channels": 21, "depth": 11, "side": 29, "groups": 7},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, side - 2, side - 2); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)).mean(dim=(1, 2))


def get_inputs(
    *,
    batch: int = 512,
    in_channels: int = 3,
    out_channels: int = 24,
    depth: int = 24,
    side: int = 32,
    groups: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    return [x * 0.3 + 4]  # a channel's mean lies far above its spread


def get_init_inputs(
    *, batch: int = 512, in_channels: int = 3, out_channels: int = 24, depth: int = 24, side: int = 32, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups]
