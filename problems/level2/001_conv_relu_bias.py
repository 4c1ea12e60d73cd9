"""3x3 convolution, ReLU, then a bias for each channel. As the public problem 1 of level 2, with signed values, so that
ReLU cuts about half of them off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 128},
    "medium": {"batch": 32, "in_channels": 32, "out_channels": 64, "side": 128},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 5, "in_channels": 7, "out_channels": 29, "side": 61},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)) + self.bias


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128) -> list:
    return [in_channels, out_channels]
