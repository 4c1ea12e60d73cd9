"""3x3x3 transposed convolution that doubles height and width but not the depth, batch norm in TRAIN mode, minus the
mean over the channels; the running statistics are part of the answer. In the public problem 15 of level 2 the mean
over the volume is subtracted, which the norm has just made a constant. The convolution has no bias, which the
statistics of the batch would cancel."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 16, "out_channels": 32, "depth": 16, "side": 64},
    "medium": {"batch": 4, "in_channels": 16, "out_channels": 32, "depth": 16, "side": 64},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 16, "depth": 6, "side": 16},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 17, "depth": 7, "side": 19},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth, 2 * side, 2 * side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(
            in_channels, out_channels, 3, stride=(1, 2, 2), padding=1, output_padding=(0, 1, 1), bias=False
        )
        self.norm = nn.BatchNorm3d(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.conv(x))
        return y - y.mean(dim=1, keepdim=True)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 16,
    out_channels: int = 32,
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
    *, batch: int = 16, in_channels: int = 16, out_channels: int = 32, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels]
