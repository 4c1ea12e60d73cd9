"""3 x 5 x 7 transposed convolution of boxes, stride 1, half as many channels out as in. As the public problem 58 with
signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 16, "depth": 16, "height": 32, "width": 64},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 16, "depth": 16, "height": 32, "width": 64},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 8, "depth": 8, "height": 16, "width": 32},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 7, "depth": 7, "height": 17, "width": 31},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, height, width) -> (batch, out, depth + 2, height + 4, width + 6)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, (3, 5, 7), bias=False)
        nn.init.normal_(self.conv.weight, std=(105 * in_channels) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 16,
    depth: int = 16,
    height: int = 32,
    width: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 16,
    depth: int = 16,
    height: int = 32,
    width: int = 64,
) -> list:
    return [in_channels, out_channels]
