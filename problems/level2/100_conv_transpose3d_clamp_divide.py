"""3x3x3 transposed convolution with stride 2, maximum with a constant, division by a constant. As the public problem
100 of level 2, with signed values of which a third lies below the constant: there none does."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 40},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 40},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 12, "depth": 5, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "depth": 5, "side": 19},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 * depth - 1, 2 * side - 1, 2 * side - 1)."""

    def __init__(self, in_channels: int, out_channels: int, floor: float, divisor: float):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=(3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.floor = floor
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(self.conv(x), min=self.floor) / self.divisor


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 40,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # a point cloud: one voxel in ten is not zero, in all channels
    return [x * 2 * (torch.rand(batch, 1, depth, side, side) < 0.1)]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 40
) -> list:
    return [in_channels, out_channels, -0.4, 2.0]
