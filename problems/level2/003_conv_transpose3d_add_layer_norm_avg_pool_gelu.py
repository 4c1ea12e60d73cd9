"""3x3x3 transposed convolution with stride 2, a learned row added along the width, layer norm over the width, 2x2x2
average pool, exact GELU. In the public problem 3 of level 2 one learned number is added, which the norm cancels, as
it does the convolution's bias; a row stays. The norm is not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 8, "side": 32},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 12, "depth": 4, "side": 16},
    "odd": {"batch": 6, "in_channels": 7, "out_channels": 13, "depth": 5, "side": 17},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth, side, side)."""

    def __init__(self, in_channels: int, out_channels: int, side: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=(3.375 * in_channels) ** -0.5)
        self.added = nn.Parameter(torch.randn(2 * side))
        self.norm = nn.LayerNorm(2 * side)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.conv(x) + self.added)
        return F.gelu(F.avg_pool3d(y, 2))


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 8,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.5 + 2]  # a row's mean lies above its spread


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, depth: int = 8, side: int = 32
) -> list:
    return [in_channels, out_channels, side]
