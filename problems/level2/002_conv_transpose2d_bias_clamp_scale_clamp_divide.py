"""3x3 transposed convolution with stride 2, a bias for each channel, clamp, times a scale for each channel, clamp,
divided by the same scale. In the public problem 2 of level 2 the scale is 2 and both clamps are to [0, 1], so that
the first never matters; here one binds where the scale is small and the other where it is large. The convolution has
no bias of its own."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 64, "out_channels": 64, "side": 64},
    "medium": {"batch": 32, "in_channels": 64, "out_channels": 64, "side": 64},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 16, "side": 32},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 17, "side": 37},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, 2 * side, 2 * side)."""

    def __init__(self, in_channels: int, out_channels: int, first_limit: float, second_limit: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=(2.25 * in_channels) ** -0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.5)
        self.scale = nn.Parameter(torch.rand(out_channels, 1, 1) * 1.5 + 0.25)
        self.first_limit = first_limit
        self.second_limit = second_limit

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.clamp(self.conv(x) + self.bias, -self.first_limit, self.first_limit)
        return torch.clamp(y * self.scale, -self.second_limit, self.second_limit) / self.scale


def get_inputs(
    *, batch: int = 128, in_channels: int = 64, out_channels: int = 64, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(side) < side // 2)]  # the right half of every image is padding: only the biases speak


def get_init_inputs(*, batch: int = 128, in_channels: int = 64, out_channels: int = 64, side: int = 64) -> list:
    return [in_channels, out_channels, 1.2, 1.0]
