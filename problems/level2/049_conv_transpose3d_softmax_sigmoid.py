"""3x3x3 transposed convolution with stride 2, softmax over the channels, sigmoid. The softmax of the public problem
49 of level 2 is near 1/64 everywhere, and its sigmoid 0.504; here the logits are spread out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "small": {"batch": 2, "in_channels": 8, "out_channels": 16, "depth": 6, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 11, "depth": 5, "side": 17},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 * depth, 2 * side, 2 * side), in [0.5, 0.74)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=4 * (3.375 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(torch.softmax(self.conv(x), dim=1))


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
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # one voxel in a hundred is ten times as large, in all channels
    return [torch.where(torch.rand(batch, 1, depth, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 32
) -> list:
    return [in_channels, out_channels]
