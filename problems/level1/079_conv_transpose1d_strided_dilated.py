"""Transposed convolution of signals, three taps three places apart, stride 2, padding 1, with a bias. In the public
problem 79 the taps are two apart like the outputs of a stride of 2, so every other output is zero."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "length": 131072},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "length": 131072},
    "small": {"batch": 6, "in_channels": 16, "out_channels": 32, "length": 4096},
    "odd": {"batch": 5, "in_channels": 17, "out_channels": 31, "length": 4093},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, length) -> (batch, out, 2 length + 3)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose1d(in_channels, out_channels, 3, stride=2, padding=1, dilation=3)
        nn.init.normal_(self.conv.weight, std=(1.5 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, length: int = 131072, family: str = "default"
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


def get_init_inputs(*, batch: int = 16, in_channels: int = 32, out_channels: int = 64, length: int = 131072) -> list:
    return [in_channels, out_channels]
