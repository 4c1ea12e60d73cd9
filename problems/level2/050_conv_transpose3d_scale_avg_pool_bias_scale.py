"""3x3x3 transposed convolution with stride 2, a learned factor, 2x2x2 average pool, a bias for each channel, a second
learned factor. As the public problem 50 of level 2, without the convolution's own bias (the added one is enough) and
with a second factor that is not one. The convolution's output has an odd number of slices, of which the last is not
pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 16, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 8, "side": 24},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 13, "depth": 7, "side": 23},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 1, side - 1, side - 1)."""

    def __init__(self, in_channels: int, out_channels: int, first: float, second: float):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=3 * (3.375 * in_channels) ** -0.5)
        self.first = nn.Parameter(torch.tensor(first))
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 0.5)
        self.second = nn.Parameter(torch.tensor(second))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (F.avg_pool3d(self.conv(x) * self.first, 2) + self.bias) * self.second


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
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(side) < side // 2)]  # half of every volume is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels, 0.5, 1.5]
