"""Convolution of long signals, three taps four places apart, stride 3, no bias: neighbouring outputs share no input.
As the public problem 76 on a quarter of its 8.6 GB, with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 64, "out_channels": 128, "length": 524280},
    "medium": {"batch": 4, "in_channels": 64, "out_channels": 128, "length": 524280},
    "small": {"batch": 4, "in_channels": 24, "out_channels": 64, "length": 12288},
    "odd": {"batch": 3, "in_channels": 23, "out_channels": 61, "length": 12281},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, length) -> (batch, out, (length - 9) // 3 + 1)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, 3, stride=3, dilation=4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 64, out_channels: int = 128, length: int = 524280, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, length)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1) * 2 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 16, in_channels: int = 64, out_channels: int = 128, length: int = 524280) -> list:
    return [in_channels, out_channels]
