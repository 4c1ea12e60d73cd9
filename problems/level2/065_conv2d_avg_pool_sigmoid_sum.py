"""3x3 convolution, 4x4 average pool, sigmoid, sum over everything but the batch. The sums of the public problem 65 of
level 2 all lie within a thousandth of half the number of addends; here every channel of every image has a brightness
of its own, which the pool does not average away."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 256},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 256},
    "small": {"batch": 16, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 17, "in_channels": 7, "out_channels": 29, "side": 61},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch,)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, mean=0.05 / in_channels, std=2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(F.avg_pool2d(self.conv(x), 4)).sum(dim=(1, 2, 3))


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform around the brightness of the channel
        return [torch.rand(shape) * 2 - 1 + torch.randn(batch, in_channels, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x + torch.randn(batch, in_channels, 1, 1)]
    if family == "wide":  # images from faint, whose sigmoids are all about a half, to loud
        return [(x + torch.randn(batch, in_channels, 1, 1)) * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1)]
    return [x + 3 * torch.rand(batch, in_channels, 1, 1) + 1]  # bright images: a channel's sigmoids agree


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 256) -> list:
    return [in_channels, out_channels]
