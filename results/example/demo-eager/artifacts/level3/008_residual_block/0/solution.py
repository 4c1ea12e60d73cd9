"""Residual block: two conv-batchnorm stages plus a 1x1 conv-batchnorm shortcut, ReLU. As the public problem 8 of
level 3, in eval mode with running statistics and norm weights that are not the identity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 128, "side": 56, "stride": 1},
    "medium": {"batch": 32, "in_channels": 64, "out_channels": 128, "side": 56, "stride": 1},
    "small": {"batch": 4, "in_channels": 16, "out_channels": 32, "side": 32, "stride": 1},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 29, "side": 43, "stride": 2},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _batch_norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    nn.init.normal_(norm.running_mean, std=0.2)
    nn.init.uniform_(norm.running_var, 0.2, 1.0)
    return norm


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side', side'), side' = ceil(side / stride)."""

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = _batch_norm(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.bn2 = _batch_norm(out_channels)
        self.shortcut = nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False)
        self.bn3 = _batch_norm(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.bn3(self.shortcut(x)))


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 64,
    out_channels: int = 128,
    side: int = 56,
    stride: int = 1,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 6 - 3) if family == "wide" else x]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 128, side: int = 56, stride: int = 1
) -> list:
    return [in_channels, out_channels, stride]
