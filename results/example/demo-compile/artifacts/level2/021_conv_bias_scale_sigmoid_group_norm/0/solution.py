"""3x3 convolution, bias, scale, sigmoid, group norm. As the public problem 21 of level 2, with a group norm whose
weight and bias are not the identity and the convolution's own bias left out (the added one is enough)."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 32, "side": 256, "groups": 8},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 32, "side": 256, "groups": 8},
    "small": {"batch": 4, "in_channels": 8, "out_channels": 32, "side": 64, "groups": 8},
    "odd": {"batch": 3, "in_channels": 7, "out_channels": 33, "side": 61, "groups": 11},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, bias=False)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1))
        self.scale = nn.Parameter(torch.randn(out_channels, 1, 1) + 2)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(torch.sigmoid((self.conv(x) + self.bias) * self.scale))


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 8,
    out_channels: int = 32,
    side: int = 256,
    groups: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 4 - 3) if family == "wide" else x]


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 32, side: int = 256, groups: int = 8
) -> list:
    return [in_channels, out_channels, groups]
