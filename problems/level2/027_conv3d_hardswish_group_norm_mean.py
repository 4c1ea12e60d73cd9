"""4x4x4 convolution, hardswish, group norm, mean over the volume. As the public problem 27 of level 2, with channels
of unequal contrast, so that the means differ from volume to volume, and a group norm that is not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 256, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 48, "groups": 4},
    "medium": {"batch": 64, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 48, "groups": 4},
    "small": {"batch": 8, "in_channels": 3, "out_channels": 16, "depth": 12, "side": 28, "groups": 4},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 15, "depth": 11, "side": 29, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 4)
        nn.init.normal_(self.conv.weight, std=2 * (64 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.hardswish(self.conv(x))).mean(dim=(2, 3, 4))


def get_inputs(
    *,
    batch: int = 256,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 48,
    groups: int = 4,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform around the level of the channel
        return [torch.rand(shape) * 2 - 1 + torch.randn(batch, in_channels, 1, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x + torch.randn(batch, in_channels, 1, 1, 1)]
    if family == "wide":  # volumes from faint to loud
        return [(x + torch.randn(batch, in_channels, 1, 1, 1)) * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # point clouds: from hardly any to half of the voxels are not zero
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < torch.rand(batch, 1, 1, 1, 1) / 2)]


def get_init_inputs(
    *, batch: int = 256, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 48, groups: int = 4
) -> list:
    return [in_channels, out_channels, groups]
