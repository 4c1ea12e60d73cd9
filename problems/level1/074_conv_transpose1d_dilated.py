"""Transposed convolution of signals, five taps three places apart, no bias, twice as many channels out as in. As the
public problem 74 with signed values; impulses show the gaps between the taps."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "length": 131072},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "length": 131072},
    "small": {"batch": 6, "in_channels": 16, "out_channels": 32, "length": 4096},
    "odd": {"batch": 7, "in_channels": 13, "out_channels": 29, "length": 4099},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, length) -> (batch, out, length + 12)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose1d(in_channels, out_channels, 5, dilation=3, bias=False)
        nn.init.normal_(self.conv.weight, std=(5 * in_channels) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, length: int = 131072, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, length)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(*, batch: int = 32, in_channels: int = 32, out_channels: int = 64, length: int = 131072) -> list:
    return [in_channels, out_channels]
