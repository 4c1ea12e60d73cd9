"""4x4 transposed convolution with stride 2 in groups of channels, a constant added, minimum with zero, exact GELU, a
constant factor. As the public problem 93 of level 2, which has no groups, with signed values of which half are cut
off."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 64, "groups": 4},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 128, "side": 64, "groups": 4},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 24, "side": 32, "groups": 4},
    "odd": {"batch": 3, "in_channels": 15, "out_channels": 25, "side": 37, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, 2 * side + 2, 2 * side + 2); groups divides in and out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int, added: float, factor: float):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 4, stride=2, groups=groups)
        nn.init.normal_(self.conv.weight, std=1.2 * (4 * in_channels // groups) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.added = added
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(torch.clamp(self.conv(x) + self.added, max=0.0)) * self.factor


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 64,
    out_channels: int = 128,
    side: int = 64,
    groups: int = 4,
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
    return [x * (torch.arange(side) < side // 2)]  # the right half of every image is padding: only the biases speak


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 64, groups: int = 4
) -> list:
    return [in_channels, out_channels, groups, 0.1, 2.0]
