"""3x3 convolution, a scale for each channel, minimum over the channels. As the public problem 32 of level 2, where
one positive constant scales all channels and can wait until after the minimum; here the scales are of either sign."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 128},
    "medium": {"batch": 32, "in_channels": 64, "out_channels": 64, "side": 128},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 32, "side": 64},
    "odd": {"batch": 7, "in_channels": 13, "out_channels": 29, "side": 67},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, 1, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.3)
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.conv(x) * self.scale).amin(dim=1, keepdim=True)


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # pixels of nine grey levels, and images all grey
    return [(x * 2).round().clamp(-4, 4) / 2 * (torch.rand(batch, 1, 1, 1) > 0.2)]


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128) -> list:
    return [in_channels, out_channels]
