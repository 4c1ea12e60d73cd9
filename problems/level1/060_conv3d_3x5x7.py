"""3 x 5 x 7 convolution of cubes, stride 1, no padding, with a bias: 105 taps on three channels. As the public
problem 60 with a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 3, "out_channels": 64, "side": 64},
    "medium": {"batch": 4, "in_channels": 3, "out_channels": 64, "side": 64},
    "small": {"batch": 2, "in_channels": 3, "out_channels": 24, "side": 24},
    "odd": {"batch": 3, "in_channels": 2, "out_channels": 23, "side": 23},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side, side) -> (batch, out, side - 2, side - 4, side - 6)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, (3, 5, 7))
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 3, out_channels: int = 64, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1, 1) * 2 - 1)]
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(*, batch: int = 16, in_channels: int = 3, out_channels: int = 64, side: int = 64) -> list:
    return [in_channels, out_channels]
