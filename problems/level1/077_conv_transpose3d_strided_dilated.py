"""3 x 3 x 3 transposed convolution of boxes with stride 2, padding 1, dilation 3 and a bias. In the public problem 77
the dilation is 2 like the stride, so seven outputs in eight are zero."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "medium": {"batch": 4, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "small": {"batch": 3, "in_channels": 8, "out_channels": 16, "depth": 8, "side": 14},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 17, "depth": 7, "side": 13},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, 2 depth + 3, 2 side + 3, 2 side + 3)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, dilation=3)
        nn.init.normal_(self.conv.weight, std=(3.4 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(
    *, batch: int = 16, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 32
) -> list:
    return [in_channels, out_channels]
