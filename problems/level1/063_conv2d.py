"""3x3 convolution with a bias, stride 1, no padding. The public problem 63 with signed values, a bias and a smaller
image; a mean-valued answer is far off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 16, "out_channels": 128, "side": 512},
    "medium": {"batch": 16, "in_channels": 16, "out_channels": 64, "side": 256},
    "small": {"batch": 2, "in_channels": 16, "out_channels": 32, "side": 96},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 31, "side": 79},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 16, out_channels: int = 128, side: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, batch: int = 16, in_channels: int = 16, out_channels: int = 128, side: int = 512) -> list:
    return [in_channels, out_channels]
