"""3 x 3 transposed convolution with a bias, stride 1: a full correlation whose output is two larger, so the border
gets fewer taps. As the public problem 57 with half the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 64, "out_channels": 64, "side": 1024},
    "medium": {"batch": 1, "in_channels": 64, "out_channels": 64, "side": 1024},
    "small": {"batch": 2, "in_channels": 32, "out_channels": 32, "side": 88},
    "odd": {"batch": 3, "in_channels": 29, "out_channels": 31, "side": 71},
}
INPUTS = ("default", "signed", "sparse", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side + 2, side + 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 64, out_channels: int = 64, side: int = 1024, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    if family == "large_mean":  # the border, where taps are missing, stands out
        return [x + 3]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 64, out_channels: int = 64, side: int = 1024) -> list:
    return [in_channels, out_channels]
