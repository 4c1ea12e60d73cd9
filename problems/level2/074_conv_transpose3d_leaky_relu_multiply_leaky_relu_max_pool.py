"""3x3x3 transposed convolution with stride 2, leaky ReLU, a factor for each channel, leaky ReLU, 2x2x2 max pool. As
the public problem 74 of level 2, with signed values; a factor of either sign decides which side the second ReLU
bends."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 16, "out_channels": 32, "depth": 16, "side": 32},
    "medium": {"batch": 8, "in_channels": 16, "out_channels": 32, "depth": 16, "side": 32},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 12, "depth": 6, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "depth": 5, "side": 17},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth, side, side)."""

    def __init__(self, in_channels: int, out_channels: int, slope: float):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=(3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.multiplier = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 1.5)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.leaky_relu(self.conv(x), self.slope) * self.multiplier
        return F.max_pool3d(F.leaky_relu(y, self.slope), 2)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 16,
    out_channels: int = 32,
    depth: int = 16,
    side: int = 32,
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
    return [x * (torch.arange(side) < side // 2)]  # half of every volume is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 16, out_channels: int = 32, depth: int = 16, side: int = 32
) -> list:
    return [in_channels, out_channels, 0.2]
