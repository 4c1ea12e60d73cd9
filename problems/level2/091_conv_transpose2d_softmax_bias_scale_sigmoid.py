"""4x4 transposed convolution with stride 2 and one more row and column than twice the input, softmax over the
channels, a bias for each channel, scale, sigmoid. The softmax of the public problem 91 of level 2 is about 1/128
everywhere, so the answer is little more than the bias; here the logits are spread out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 48},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 48},
    "small": {"batch": 6, "in_channels": 16, "out_channels": 24, "side": 24},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 29, "side": 29},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, 2 * side + 1, 2 * side + 1)."""

    def __init__(self, in_channels: int, out_channels: int, scale: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 4, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=4 * (4 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.1)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid((torch.softmax(self.conv(x), dim=1) + self.bias) * self.scale)


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 48, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    # one pixel in a hundred is ten times as bright, in all channels
    return [torch.where(torch.rand(batch, 1, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 48) -> list:
    return [in_channels, out_channels, 4.0]
