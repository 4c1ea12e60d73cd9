"""Mean over overlapping windows of 3 x 3 x 3 that move by two, on volumes of unlike sides; zeros of the padding
count. As the public problem 46 on a quarter of the batch and with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "channels": 32, "depth": 128, "height": 128, "width": 256},
    "medium": {"batch": 1, "channels": 32, "depth": 128, "height": 128, "width": 256},
    "small": {"batch": 2, "channels": 16, "depth": 28, "height": 32, "width": 64},
    "odd": {"batch": 3, "channels": 13, "depth": 23, "height": 31, "width": 61},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, depth, height, width) -> the last three halved, rounded up, for kernel 3, stride 2, padding 1."""

    def __init__(self, kernel: int, stride: int, padding: int):
        super().__init__()
        self.pool = nn.AvgPool3d(kernel, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(
    *,
    batch: int = 4,
    channels: int = 32,
    depth: int = 128,
    height: int = 128,
    width: int = 256,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, channels, depth, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # faces, edges and corners of the volume stand out
        return [x + 3]
    return [x]


def get_init_inputs(
    *, batch: int = 4, channels: int = 32, depth: int = 128, height: int = 128, width: int = 256
) -> list:
    return [3, 2, 1]
