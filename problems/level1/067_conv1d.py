"""Convolution of long signals with three taps and a bias, stride 1, no padding. As the public problem 67 with half
the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 64, "out_channels": 128, "length": 131072},
    "medium": {"batch": 4, "in_channels": 64, "out_channels": 128, "length": 131072},
    "small": {"batch": 6, "in_channels": 24, "out_channels": 48, "length": 4096},
    "odd": {"batch": 5, "in_channels": 23, "out_channels": 47, "length": 4093},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, length) -> (batch, out, length - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 64, out_channels: int = 128, length: int = 131072, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, length)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1) * 2 - 1)]
    if family == "spiky":  # one outlier in a thousand
        return [torch.where(torch.rand(shape) < 0.001, 100 * x, x)]
    return [x]


def get_init_inputs(*, batch: int = 16, in_channels: int = 64, out_channels: int = 128, length: int = 131072) -> list:
    return [in_channels, out_channels]
