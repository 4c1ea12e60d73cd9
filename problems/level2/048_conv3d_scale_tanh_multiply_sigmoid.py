"""3x3x3 convolution, a scale for each channel, tanh, a factor for each channel, sigmoid. As the public problem 48 of
level 2, with signed values and factors large enough that the sigmoid bends."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 32, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 10, "side": 32},
    "odd": {"batch": 5, "in_channels": 5, "out_channels": 13, "depth": 9, "side": 31},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.3)
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1, 1))
        self.factor = nn.Parameter(torch.randn(out_channels, 1, 1, 1) * 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(torch.tanh(self.conv(x) * self.scale) * self.factor)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
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
    *, batch: int = 128, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels]
