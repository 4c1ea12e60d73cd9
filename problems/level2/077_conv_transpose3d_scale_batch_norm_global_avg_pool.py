"""5x5x5 transposed convolution without a bias, times a second input that scales each volume, batch norm in TRAIN
mode, average over the volume; the running statistics are part of the answer. In the public problem 77 of level 2 the
scale is one constant, which the statistics of the batch cancel, as they do a bias; a volume's scale stays. The
channels have levels of their own, or the averages would hardly differ."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "depth": 16, "side": 32},
    "small": {"batch": 8, "in_channels": 6, "out_channels": 12, "depth": 6, "side": 12},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 13, "depth": 7, "side": 11},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """x (batch, in, depth, side, side), scale (batch, 1, 1, 1, 1) -> (batch, out, 1, 1, 1)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 5, bias=False)
        nn.init.normal_(self.conv.weight, std=(125 * in_channels) ** -0.5)
        self.norm = nn.BatchNorm3d(out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x) * scale).mean(dim=(2, 3, 4), keepdim=True)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    depth: int = 16,
    side: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, side, side)
    scale = torch.rand(batch, 1, 1, 1, 1) + 0.5
    if family == "default":  # uniform around the level of the channel
        return [torch.rand(shape) * 2 - 1 + torch.randn(batch, in_channels, 1, 1, 1), scale]
    x = torch.randn(shape)
    if family == "signed":
        return [x + torch.randn(batch, in_channels, 1, 1, 1), scale]
    if family == "wide":  # volumes from faint to loud
        return [(x + torch.randn(batch, in_channels, 1, 1, 1)) * 10 ** (torch.rand(batch, 1, 1, 1, 1) * 2 - 1.5), scale]
    # point clouds: from hardly any to half of the voxels are not zero
    return [torch.relu(x) * 2 * (torch.rand(batch, 1, depth, side, side) < torch.rand(batch, 1, 1, 1, 1) / 2), scale]


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 32, out_channels: int = 64, depth: int = 16, side: int = 32
) -> list:
    return [in_channels, out_channels]
