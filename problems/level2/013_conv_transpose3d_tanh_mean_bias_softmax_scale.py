"""3x3x3 transposed convolution that keeps the size, tanh, mean over the depth, a bias for each channel, softmax over
the channels, scale. In the public problem 13 of level 2 the mean comes first, which removes the third dimension from
the convolution, and tanh last, where it is nearly the identity. The scale is the number of channels, so that the
answers lie around one."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 16, "out_channels": 64, "depth": 16, "side": 128},
    "medium": {"batch": 4, "in_channels": 16, "out_channels": 64, "depth": 16, "side": 128},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 16, "depth": 8, "side": 32},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 17, "depth": 9, "side": 29},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 1, side, side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=1.5 * (27 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 0.5)
        self.scale = float(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(self.conv(x)).mean(dim=2, keepdim=True) + self.bias
        return torch.softmax(y, dim=1) * self.scale


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 16,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform around a level for each column of the volume
        return [torch.rand(shape) * 2 - 1 + torch.randn(batch, in_channels, 1, side, side)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # columns from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, side, side) * 3 - 2)]
    return [x * (torch.arange(side) < side // 2)]  # half of every volume is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 16, out_channels: int = 64, depth: int = 16, side: int = 128
) -> list:
    return [in_channels, out_channels]
