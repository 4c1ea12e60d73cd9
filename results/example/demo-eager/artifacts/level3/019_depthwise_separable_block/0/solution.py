"""MobileNet block: depthwise 3x3 conv, batch norm, ReLU6, pointwise conv, batch norm, ReLU6, in eval mode. The repeated
part of the public problem 19 of level 3, with running statistics and norm weights that are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "in_channels": 128, "out_channels": 256, "side": 112},
    "medium": {"batch": 16, "in_channels": 128, "out_channels": 256, "side": 112},
    "small": {"batch": 4, "in_channels": 32, "out_channels": 64, "side": 56},
    "odd": {"batch": 3, "in_channels": 31, "out_channels": 59, "side": 53},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _batch_norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    nn.init.normal_(norm.running_mean, std=0.2)
    nn.init.uniform_(norm.running_var, 0.05, 0.2)
    return norm


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side, side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(in_channels, in_channels, 3, padding=1, groups=in_channels, bias=False)
        self.bn1 = _batch_norm(in_channels)
        self.pointwise = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.bn2 = _batch_norm(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu6(self.bn1(self.depthwise(x)))
        return F.relu6(self.bn2(self.pointwise(x)))


def get_inputs(
    *, batch: int = 64, in_channels: int = 128, out_channels: int = 256, side: int = 112, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 4 - 3) if family == "wide" else x]


def get_init_inputs(*, batch: int = 64, in_channels: int = 128, out_channels: int = 256, side: int = 112) -> list:
    return [in_channels, out_channels]
