"""3x3 convolution with stride 2, hardswish, ReLU. As the public problem 69 of level 2, which differs from 57 in the
order of the activations; here also in the stride, and in values of which some lie beyond 3, where hardswish becomes
the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 16, "out_channels": 64, "side": 256},
    "medium": {"batch": 32, "in_channels": 16, "out_channels": 64, "side": 256},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 128},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 37, "side": 121},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side', side'), side' = ceil(side / 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, stride=2, padding=1)
        nn.init.normal_(self.conv.weight, std=2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.hardswish(self.conv(x)))


def get_inputs(
    *, batch: int = 128, in_channels: int = 16, out_channels: int = 64, side: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(side) < side // 2)]  # the right half of every image is padding: only the biases speak


def get_init_inputs(*, batch: int = 128, in_channels: int = 16, out_channels: int = 64, side: int = 256) -> list:
    return [in_channels, out_channels]
