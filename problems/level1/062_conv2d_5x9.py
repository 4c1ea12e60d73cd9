"""5 x 9 convolution of square images, stride 1, no padding, no bias: too many taps for Winograd's algorithm. As the
public problem 62 with half the batch and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 32, "out_channels": 64, "side": 512},
    "medium": {"batch": 1, "in_channels": 32, "out_channels": 64, "side": 512},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 24, "side": 56},
    "odd": {"batch": 3, "in_channels": 17, "out_channels": 23, "side": 53},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 4, side - 8)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, (5, 9), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 32, out_channels: int = 64, side: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 32, out_channels: int = 64, side: int = 512) -> list:
    return [in_channels, out_channels]
