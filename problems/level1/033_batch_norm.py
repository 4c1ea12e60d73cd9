"""Batch norm over the channels of feature maps in train mode: statistics of the batch, and running ones that are
updated and compared as well. Unlike the public problem 33 the weight and bias are not the identity and every channel
has its own mean and spread, so statistics of another channel are far off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "channels": 64, "side": 256},
    "medium": {"batch": 32, "channels": 64, "side": 256},
    "small": {"batch": 6, "channels": 32, "side": 96},
    "odd": {"batch": 5, "channels": 37, "side": 89},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> the same; running_mean and running_var (channels,) change."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        nn.init.normal_(self.norm.running_mean)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs(*, batch: int = 128, channels: int = 64, side: int = 256, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "large_mean":  # the mean squared is 10^4 times the variance
        return [x + 100]
    mean, spread = torch.randn(channels, 1, 1), torch.rand(channels, 1, 1)
    if family == "wide":  # heavy tails: a few elements carry most of a channel's variance
        x = x * 10 ** (torch.rand(shape) * 3 - 2)
    return [x * (spread * 2 + 0.5) + mean * 3]


def get_init_inputs(*, batch: int = 128, channels: int = 64, side: int = 256) -> list:
    return [channels]
