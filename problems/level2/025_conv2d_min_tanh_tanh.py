"""3x3 convolution, minimum over the channels, tanh, tanh. As the public problem 25 of level 2, with weights small
enough that the minima do not all saturate tanh."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 16, "out_channels": 64, "side": 128},
    "medium": {"batch": 32, "in_channels": 16, "out_channels": 64, "side": 128},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 32, "side": 64},
    "odd": {"batch": 7, "in_channels": 13, "out_channels": 29, "side": 71},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, 1, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=0.4 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, mean=0.3, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.tanh(self.conv(x).amin(dim=1, keepdim=True)))


def get_inputs(
    *, batch: int = 128, in_channels: int = 16, out_channels: int = 64, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    return [x * (torch.arange(side) < side // 2)]  # the right half of every image is padding: only the biases speak


def get_init_inputs(*, batch: int = 128, in_channels: int = 16, out_channels: int = 64, side: int = 128) -> list:
    return [in_channels, out_channels]
