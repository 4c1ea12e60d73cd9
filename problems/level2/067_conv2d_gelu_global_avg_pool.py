"""3x3 convolution, exact GELU, average over the image. As the public problem 67 of level 2, with channels of unequal
contrast: otherwise the averages of all images agree to a percent."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 256},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 256},
    "small": {"batch": 16, "in_channels": 8, "out_channels": 32, "side": 64},
    "odd": {"batch": 17, "in_channels": 7, "out_channels": 31, "side": 59},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.conv(x)).mean(dim=(2, 3))


def get_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # channels of unequal contrast on [-2, 2)
        return [(torch.rand(shape) * 4 - 2) * torch.rand(batch, in_channels, 1, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x * (torch.rand(batch, in_channels, 1, 1) + 0.5)]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    # drawings: from hardly any to half of the pixels are not zero
    return [x * 2 * (torch.rand(shape) < torch.rand(batch, 1, 1, 1) / 2)]


def get_init_inputs(*, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 256) -> list:
    return [in_channels, out_channels]
