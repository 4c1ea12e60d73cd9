"""4x4 transposed convolution with stride 2, minimum over the channels plus a constant, sum over the height, exact
GELU, a learned number added. The sums of the public problem 36 of level 2, whose kernel is 3x3, are all far below
zero, where GELU is zero; here the constant lifts the minima to zero on average, and the kernel covers every pixel
alike."""

from statistics import NormalDist

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 64, "side": 96},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 64, "side": 96},
    "small": {"batch": 16, "in_channels": 12, "out_channels": 16, "side": 24},
    "odd": {"batch": 13, "in_channels": 11, "out_channels": 17, "side": 29},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, 1, 1, 2 * side), for inputs of unit variance."""

    def __init__(self, in_channels: int, out_channels: int, spread: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 4, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=spread * (4 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.2 * spread)
        lowest = NormalDist().inv_cdf(0.625 / (out_channels + 0.25))  # of that many normal values, on average
        self.lift = -1.05 * spread * lowest
        self.bias = nn.Parameter(torch.tensor([0.5]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x).amin(dim=1, keepdim=True) + self.lift
        return F.gelu(y.sum(dim=2, keepdim=True)) + self.bias


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 96, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-sqrt(3), sqrt(3))
        return [torch.rand(shape) * 3.46 - 1.73]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    return [x * 10**0.5 * (torch.rand(shape) < 0.1)]  # one value in ten is not zero, of the same variance


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 96) -> list:
    return [in_channels, out_channels, 0.3]
