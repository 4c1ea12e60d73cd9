"""RMS norm over the channels of a feature map, one place at a time: the normalised axis is strided. Unlike the public
problem 36 there is a weight for each channel, and places of little energy, where eps counts, are a family."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 64, "side": 256},
    "medium": {"batch": 8, "channels": 64, "side": 256},
    "small": {"batch": 3, "channels": 64, "side": 80},
    "odd": {"batch": 3, "channels": 61, "side": 79},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side, side)."""

    def __init__(self, channels: int, eps: float):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.rand(channels, 1, 1) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean_square = torch.mean(x**2, dim=1, keepdim=True)
        return x / torch.sqrt(mean_square + self.eps) * self.weight


def get_inputs(*, batch: int = 32, channels: int = 64, side: int = 256, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    energy = torch.rand(batch, 1, side, side)
    if family == "wide":  # places over four decades of magnitude, all brought to one
        return [x * 10 ** (energy * 4 - 2)]
    if family == "zeros":  # a third of the places is zero, the others are about as large as sqrt(eps)
        return [x * 0.01 * energy * (energy > 1 / 3)]
    return [x * (energy * 4 + 0.1) + 0.5]


def get_init_inputs(*, batch: int = 32, channels: int = 64, side: int = 256) -> list:
    return [channels, 1e-5]
