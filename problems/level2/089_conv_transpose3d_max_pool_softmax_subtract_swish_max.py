"""3x3x3 transposed convolution with stride 2, 2x2x2 max pool, softmax over the channels, minus a number for each
channel, swish, maximum over the channels. As the public problem 89 of level 2, with logits that are spread out and
small subtrahends: there the softmax is nearly uniform and the channel with the smallest subtrahend always wins."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 48},
    "medium": {"batch": 16, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 48},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 6, "side": 20},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 13, "depth": 7, "side": 19},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, depth, side, side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=2 * (3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.subtrahend = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(F.max_pool3d(self.conv(x), 2), dim=1)
        return F.silu(y - self.subtrahend).amax(dim=1)


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 48,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # volumes of one value, some of them zero, where all windows inside agree
    return [x[:, :, :1, :1, :1].expand(shape) * (torch.rand(batch, 1, depth, side, side) > 0.5)]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 48
) -> list:
    return [in_channels, out_channels]
