"""3 x 5 x 5 transposed convolution of cubes, stride 1, no bias, twice as many channels out as in: 75 taps, bound by
arithmetic. As the public problem 68 with an eighth of its batch and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 2, "in_channels": 32, "out_channels": 64, "side": 64},
    "medium": {"batch": 1, "in_channels": 32, "out_channels": 64, "side": 48},
    "small": {"batch": 3, "in_channels": 8, "out_channels": 16, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 13, "side": 17},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side, side) -> (batch, out, side + 2, side + 4, side + 4)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, (3, 5, 5), bias=False)
        nn.init.normal_(self.conv.weight, std=(75 * in_channels) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 2, in_channels: int = 32, out_channels: int = 64, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(*, batch: int = 2, in_channels: int = 32, out_channels: int = 64, side: int = 64) -> list:
    return [in_channels, out_channels]
