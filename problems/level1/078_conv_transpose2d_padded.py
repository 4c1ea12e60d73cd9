"""3 x 7 transposed convolution, padded so that the image keeps its sides, no bias: a convolution with the kernel
turned round and its channels exchanged. As the public problem 78 with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 8, "in_channels": 32, "out_channels": 32, "height": 512, "width": 1024},
    "medium": {"batch": 2, "in_channels": 32, "out_channels": 32, "height": 512, "width": 1024},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 16, "height": 48, "width": 96},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 19, "height": 43, "width": 101},
}
INPUTS = ("default", "signed", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height, width)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, (3, 7), padding=(1, 3), bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 8,
    in_channels: int = 32,
    out_channels: int = 32,
    height: int = 512,
    width: int = 1024,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "large_mean":  # the border, where taps are missing, stands out
        return [x + 3]
    return [x]


def get_init_inputs(
    *, batch: int = 8, in_channels: int = 32, out_channels: int = 32, height: int = 512, width: int = 1024
) -> list:
    return [in_channels, out_channels]
