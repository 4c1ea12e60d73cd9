"""3x3 convolution, batch norm in TRAIN mode, a constant factor; the running statistics are part of the answer. As the
public problem 73 of level 2, without the convolution's bias, which the statistics of the batch cancel, and with a
norm that is not the identity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 128},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 128},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 29, "side": 61},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, scale: float):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, bias=False)
        self.norm = nn.BatchNorm2d(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)) * self.scale


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 4]  # bright images of little contrast: a channel's mean lies far above its spread


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128) -> list:
    return [in_channels, out_channels, 2.0]
