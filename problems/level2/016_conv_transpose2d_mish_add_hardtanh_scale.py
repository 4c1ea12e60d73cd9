"""3x3 transposed convolution with stride 2 of an image wider than high, mish, a constant added, clamp to [-1, 1],
scale. With the public problem 16 of level 2 mish plus the constant never comes near the lower limit; here both are
reached."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 64, "height": 64, "width": 128},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 64, "height": 64, "width": 128},
    "small": {"batch": 8, "in_channels": 12, "out_channels": 16, "height": 24, "width": 40},
    "odd": {"batch": 3, "in_channels": 11, "out_channels": 17, "height": 23, "width": 47},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, 2 * height, 2 * width)."""

    def __init__(self, in_channels: int, out_channels: int, added: float, scale: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=(2.25 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.added = added
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(F.mish(self.conv(x)) + self.added) * self.scale


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 64,
    out_channels: int = 64,
    height: int = 64,
    width: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-3, 3)
        return [torch.rand(shape) * 6 - 3]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # the lower half of every image is padding: only the bias speaks
    return [x * 2 * (torch.arange(height).view(-1, 1) < height // 2)]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 64, height: int = 64, width: int = 128
) -> list:
    return [in_channels, out_channels, -0.8, 2.0]
