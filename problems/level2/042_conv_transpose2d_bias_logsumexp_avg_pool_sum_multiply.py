"""3x3 transposed convolution that keeps the size, a bias for each channel, logsumexp over the channels, 8x8 average
pool, sum over the width, times ten. The public problem 42 of level 2 averages over the image right after the
convolution, which makes it a small matrix product, and sums over axes of length 1. The convolution has no bias of its
own; what is left over at the end is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 256},
    "medium": {"batch": 4, "in_channels": 64, "out_channels": 128, "side": 256},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 24, "side": 64},
    "odd": {"batch": 7, "in_channels": 13, "out_channels": 23, "side": 65},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, 1, side // 8)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=2.5 * (9 * in_channels) ** -0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1) - 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.logsumexp(self.conv(x) + self.bias, dim=1, keepdim=True)
        return F.avg_pool2d(y, 8).sum(dim=3) * 10.0


def get_inputs(
    *, batch: int = 16, in_channels: int = 64, out_channels: int = 128, side: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x * (torch.rand(batch, in_channels, 1, 1) + 0.5)]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    # one pixel in a hundred is ten times as bright, in all channels, and one channel rules its sum
    return [torch.where(torch.rand(batch, 1, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(*, batch: int = 16, in_channels: int = 64, out_channels: int = 128, side: int = 256) -> list:
    return [in_channels, out_channels]
