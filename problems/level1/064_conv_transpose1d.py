"""Transposed convolution of signals with three taps and a bias, stride 1. As the public problem 64 with half the
batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 128, "out_channels": 128, "length": 65536},
    "medium": {"batch": 8, "in_channels": 128, "out_channels": 128, "length": 65536},
    "small": {"batch": 6, "in_channels": 32, "out_channels": 32, "length": 4096},
    "odd": {"batch": 7, "in_channels": 31, "out_channels": 29, "length": 4099},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, length) -> (batch, out, length + 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose1d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 32, in_channels: int = 128, out_channels: int = 128, length: int = 65536, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, length)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1) * 2 - 1)]
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(*, batch: int = 32, in_channels: int = 128, out_channels: int = 128, length: int = 65536) -> list:
    return [in_channels, out_channels]
