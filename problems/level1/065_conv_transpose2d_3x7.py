"""3 x 7 transposed convolution of square images, stride 1, no bias. As the public problem 65 with half the batch and
signed values; impulses show whether the kernel is turned round, which a correlation does not do."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 64, "out_channels": 64, "side": 512},
    "medium": {"batch": 1, "in_channels": 64, "out_channels": 64, "side": 512},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 24, "side": 64},
    "odd": {"batch": 3, "in_channels": 17, "out_channels": 23, "side": 61},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side + 2, side + 6)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, (3, 7), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 64, out_channels: int = 64, side: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 64, out_channels: int = 64, side: int = 512) -> list:
    return [in_channels, out_channels]
