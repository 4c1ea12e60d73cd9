"""3x3x3 convolution, ReLU, a bias for each channel, leaky ReLU, exact GELU, sigmoid. In the public problem 7 of level
2 leaky ReLU comes right after ReLU and is the identity; here the bias stands between them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 8, "out_channels": 32, "depth": 32, "side": 64},
    "medium": {"batch": 8, "in_channels": 8, "out_channels": 32, "depth": 32, "side": 64},
    "small": {"batch": 2, "in_channels": 8, "out_channels": 16, "depth": 10, "side": 32},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 13, "depth": 11, "side": 29},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, slope: float):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=1.5 * (27 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1) - 0.5)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.conv(x)) + self.bias
        return torch.sigmoid(F.gelu(F.leaky_relu(y, self.slope)))


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 8,
    out_channels: int = 32,
    depth: int = 32,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(side) < side // 2)]  # half of every volume is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 8, out_channels: int = 32, depth: int = 32, side: int = 64
) -> list:
    return [in_channels, out_channels, 0.2]
