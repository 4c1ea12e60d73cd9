"""5x5 transposed convolution, batch norm in TRAIN mode, tanh, 2x2 max pool, group norm; the running statistics are
part of the answer. As the public problem 11 of level 2, without the convolution's bias, which the statistics of the
batch cancel, and with norms that are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 256, "in_channels": 64, "out_channels": 128, "side": 32, "groups": 8},
    "medium": {"batch": 128, "in_channels": 64, "out_channels": 64, "side": 32, "groups": 8},
    "small": {"batch": 8, "in_channels": 12, "out_channels": 32, "side": 24, "groups": 8},
    "odd": {"batch": 16, "in_channels": 11, "out_channels": 30, "side": 25, "groups": 6},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side // 2 + 1, side // 2 + 1); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 5, padding=1, bias=False)
        self.batch_norm = nn.BatchNorm2d(out_channels)
        self.group_norm = nn.GroupNorm(groups, out_channels)
        for norm in (self.batch_norm, self.group_norm):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(self.batch_norm(self.conv(x)))
        return self.group_norm(F.max_pool2d(y, 2))


def get_inputs(
    *,
    batch: int = 256,
    in_channels: int = 64,
    out_channels: int = 128,
    side: int = 32,
    groups: int = 8,
    family: str = "default",
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


def get_init_inputs(
    *, batch: int = 256, in_channels: int = 64, out_channels: int = 128, side: int = 32, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups]
