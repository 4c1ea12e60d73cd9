"""5 x 9 convolution with taps two rows and three columns apart and an uneven padding, stride 1, with a bias: a window
of 9 x 25 of which a fifth is used. As the public problem 80 with half the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 32, "out_channels": 64, "side": 512},
    "medium": {"batch": 1, "in_channels": 32, "out_channels": 64, "side": 512},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 16, "side": 56},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 17, "side": 59},
}
INPUTS = ("default", "signed", "sparse", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 4, side - 16)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, (5, 9), padding=(2, 4), dilation=(2, 3))
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 32, out_channels: int = 64, side: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    if family == "large_mean":  # the padding stands out against the rest
        return [x + 3]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 32, out_channels: int = 64, side: int = 512) -> list:
    return [in_channels, out_channels]
