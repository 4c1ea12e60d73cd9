"""3x3 convolution, then z * tanh(softplus(z)), batch norm in TRAIN mode; the running statistics are part of the
answer. As the public problem 52 of level 2, with a norm that is not the identity and a bias large enough to matter
before the activation."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 128},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 128},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 31, "side": 67},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.BatchNorm2d(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.conv(x)
        return self.norm(torch.tanh(F.softplus(z)) * z)


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 4]  # bright images of little contrast: a channel's mean lies far above its spread


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 128) -> list:
    return [in_channels, out_channels]
