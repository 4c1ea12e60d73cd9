"""3x3 convolution of an image wider than high, minimum with a constant, a bias for each channel, a constant factor.
As the public problem 31 of level 2, with signed values and a constant that two fifths of them reach."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "height": 96, "width": 160},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "height": 96, "width": 160},
    "small": {"batch": 12, "in_channels": 8, "out_channels": 32, "height": 48, "width": 80},
    "odd": {"batch": 3, "in_channels": 11, "out_channels": 31, "height": 43, "width": 89},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height - 2, width - 2)."""

    def __init__(self, in_channels: int, out_channels: int, ceiling: float, factor: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.ceiling = ceiling
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1))
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (torch.clamp(self.conv(x), max=self.ceiling) + self.bias) * self.factor


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 64,
    out_channels: int = 128,
    height: int = 96,
    width: int = 160,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # the lower half of every image is padding: only the biases speak
    return [x * (torch.arange(height).view(-1, 1) < height // 2)]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, height: int = 96, width: int = 160
) -> list:
    return [in_channels, out_channels, 0.1, 2.0]
