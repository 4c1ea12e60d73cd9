"""z = 3x3x3 transposed convolution with stride 2, then ((z + bias + z) * z) + z. As the public problem 20 of level 2,
with signed values of a scale at which the square, the product with the bias and z itself weigh alike."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 12, "depth": 4, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "depth": 5, "side": 17},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 * depth, 2 * side, 2 * side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=0.8 * (3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.conv(x)
        return ((z + self.bias) + z) * z + z


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.2, 1.2)
        return [torch.rand(shape) * 2.4 - 1.2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint, where z rules, to loud, where its square does
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    return [x * (torch.arange(side) < side // 2)]  # half of every volume is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 32
) -> list:
    return [in_channels, out_channels]
