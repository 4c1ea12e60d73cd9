"""3x3 transposed convolution with stride 2, times a second input of the result's shape (a gate), average over the
width and average over the height, side by side. The public problem 44 of level 2 multiplies by a constant and
averages over the whole image, which makes the convolution a small matrix product."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 64, "out_channels": 64, "side": 64},
    "medium": {"batch": 32, "in_channels": 64, "out_channels": 64, "side": 64},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 16, "side": 32},
    "odd": {"batch": 5, "in_channels": 13, "out_channels": 17, "side": 31},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (batch, in, side, side), gate (batch, out, 2 * side, 2 * side) -> (batch, out, 4 * side): the averages over the
    width, then those over the height."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=(2.25 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.3)

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        y = self.conv(x) * gate
        return torch.cat((y.mean(dim=3), y.mean(dim=2)), dim=2)


def get_inputs(
    *, batch: int = 128, in_channels: int = 64, out_channels: int = 64, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    gate = torch.rand(batch, out_channels, 2 * side, 2 * side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2, gate]
    x = torch.randn(shape)
    if family == "signed":
        return [x, gate]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5), gate]
    return [x + 1, gate]  # bright images: the averages do not cancel


def get_init_inputs(*, batch: int = 128, in_channels: int = 64, out_channels: int = 64, side: int = 64) -> list:
    return [in_channels, out_channels]
