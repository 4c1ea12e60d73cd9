"""3x3 transposed convolution that keeps the size, 2x2 max pool, clamp to [-1, 1], average over the image, tanh. As
the public problem 10 of level 2, with channels of unequal contrast and biases of either sign: otherwise the averages
of all images agree to a percent. An odd row or column at the end is not pooled."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 64, "side": 160},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 64, "side": 160},
    "small": {"batch": 16, "in_channels": 12, "out_channels": 24, "side": 48},
    "odd": {"batch": 17, "in_channels": 11, "out_channels": 23, "side": 47},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, 1, 1)."""

    def __init__(self, in_channels: int, out_channels: int, low: float, high: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=(9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, mean=-0.5, std=0.7)
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.hardtanh(F.max_pool2d(self.conv(x), 2), self.low, self.high)
        return torch.tanh(y.mean(dim=(2, 3), keepdim=True))


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 160, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x * (torch.rand(batch, in_channels, 1, 1) + 0.5)]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    # blocks of equal pixels, as in an enlarged image
    return [x.repeat_interleave(4, 3)[..., :side] * torch.rand(batch, in_channels, 1, 1)]


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 160) -> list:
    return [in_channels, out_channels, -1.0, 1.0]
