"""3x3x3 convolution, minimum over the depth, softmax over the channels. As the public problem 24 of level 2, with
minima that are spread out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 512, "in_channels": 3, "out_channels": 24, "depth": 24, "side": 32},
    "medium": {"batch": 128, "in_channels": 3, "out_channels": 24, "depth": 24, "side": 32},
    "small": {"batch": 8, "in_channels": 3, "out_channels": 24, "depth": 12, "side": 32},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 19, "depth": 11, "side": 31},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=2 * (27 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.conv(x).amin(dim=2), dim=1)


def get_inputs(
    *,
    batch: int = 512,
    in_channels: int = 3,
    out_channels: int = 24,
    depth: int = 24,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    if family == "default":  # uniform on [-1.7, 1.7)
        return [torch.rand(shape) * 3.4 - 1.7]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # volumes from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5)]
    # slices that repeat along the depth, so that a minimum stands in several
    return [x[:, :, :1].expand(shape).contiguous()]


def get_init_inputs(
    *, batch: int = 512, in_channels: int = 3, out_channels: int = 24, depth: int = 24, side: int = 32
) -> list:
    return [in_channels, out_channels]
