"""3x3 transposed convolution, exact GELU, group norm. As the public problem 19 of level 2, with signed values and a
group norm whose weight and bias are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 64, "out_channels": 64, "side": 96, "groups": 8},
    "medium": {"batch": 32, "in_channels": 64, "out_channels": 64, "side": 96, "groups": 8},
    "small": {"batch": 4, "in_channels": 12, "out_channels": 32, "side": 48, "groups": 8},
    "odd": {"batch": 3, "in_channels": 11, "out_channels": 39, "side": 51, "groups": 13},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side + 2, side + 2); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=1.5 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.gelu(self.conv(x)))


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 64,
    out_channels: int = 64,
    side: int = 96,
    groups: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 64, out_channels: int = 64, side: int = 96, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups]
