"""3x3x3 convolution, softmax over the channels, a 2x2x2 max pool and a 3x3x3 one with stride 2. As the public problem
6 of level 2, with logits that are spread out, a convolution that keeps the size, and a second pool whose windows
overlap: two pools of 2 are one pool of 4."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "medium": {"batch": 32, "in_channels": 3, "out_channels": 16, "depth": 16, "side": 64},
    "small": {"batch": 8, "in_channels": 3, "out_channels": 16, "depth": 8, "side": 32},
    "odd": {"batch": 6, "in_channels": 5, "out_channels": 17, "depth": 9, "side": 27},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, side, side) -> (batch, out, depth', side', side'), where n' = ceil((n // 2) / 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=3 * (27 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.max_pool3d(torch.softmax(self.conv(x), dim=1), 2)
        return F.max_pool3d(y, 3, stride=2, padding=1)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 3,
    out_channels: int = 16,
    depth: int = 16,
    side: int = 64,
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
    # one voxel in a hundred is ten times as large, in all channels
    return [torch.where(torch.rand(batch, 1, depth, side, side) < 0.01, 10 * x, x)]


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 3, out_channels: int = 16, depth: int = 16, side: int = 64
) -> list:
    return [in_channels, out_channels]
