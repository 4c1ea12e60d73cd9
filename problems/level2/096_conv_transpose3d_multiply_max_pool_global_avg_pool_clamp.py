"""3x3x3 transposed convolution with stride 2, a constant factor, 2x2x2 max pool, average over the volume, clamp to
[0, 1]. As the public problem 96 of level 2, with channels of unequal contrast and biases of either sign, so that the
averages differ and both limits are reached."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 16, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 10, "in_channels": 4, "out_channels": 16, "depth": 6, "side": 16},
    "odd": {"batch": 11, "in_channels": 5, "out_channels": 13, "depth": 7, "side": 15},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 1, 1, 1) in [0, 1]."""

    def __init__(self, in_channels: int, out_channels: int, factor: float):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=(3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, mean=-0.8, std=0.8)
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.max_pool3d(self.conv(x) * self.factor, 2)
        return torch.clamp(y.mean(dim=(2, 3, 4), keepdim=True), 0.0, 1.0)


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # channels of unequal contrast and level
        return [
            torch.rand(shape) * 2 * torch.rand(batch, in_channels, 1, 1, 1) + torch.randn(batch, in_channels, 1, 1, 1)
        ]
    x = torch.randn(shape)
    if family == "signed":
        return [x + torch.randn(batch, in_channels, 1, 1, 1)]
    if family == "wide":  # volumes from faint to loud
        return [(x + torch.randn(batch, in_channels, 1, 1, 1)) * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # point clouds: from hardly any to half of the voxels are not zero
    return [x * 3 * (torch.rand(batch, 1, depth, side, side) < torch.rand(batch, 1, 1, 1, 1) / 2)]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, 0.5]
