"""3x3x3 transposed convolution with stride 2, batch norm in TRAIN mode, two 2x2x2 average pools; the running
statistics are part of the answer. As the public problem 72 of level 2, without the convolution's bias, which the
statistics of the batch cancel, and with a norm that is not the identity. The statistics count the last slices, which
the pools leave over."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 16, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 4, "in_channels": 3, "out_channels": 16, "depth": 8, "side": 24},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 13, "depth": 9, "side": 23},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, (depth - 1) // 2, (side - 1) // 2, (side - 1) // 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm3d(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.avg_pool3d(F.avg_pool3d(self.norm(self.conv(x)), 2), 2)


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.5 + 1]  # a channel's mean lies above its spread


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels]
