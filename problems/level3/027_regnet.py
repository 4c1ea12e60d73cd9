"""RegNetX: residual bottlenecks with grouped 3x3 convolutions in four stages; batch norm in TRAIN mode, so the running
statistics are part of the answer. The public problem 27 of level 3 bears the name on a plain convolution net."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "side": 224, "widths": [72, 168, 408, 912], "group_width": 24, "depths": [2, 4, 10, 2]},
    "medium": {"batch": 16, "side": 224, "widths": [72, 168, 408, 912], "group_width": 24, "depths": [2, 4, 10, 2]},
    "small": {"batch": 8, "side": 64, "widths": [24, 56, 104, 152], "group_width": 8, "depths": [1, 1, 3, 1]},
    "odd": {"batch": 5, "side": 67, "widths": [21, 49, 91, 133], "group_width": 7, "depths": [1, 2, 2, 1]},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}
STEM = 32
CLASSES = 1000


def _batch_norm(channels: int, low: float = 0.5, high: float = 1.5) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, low, high)
    nn.init.normal_(norm.bias, std=0.5)
    return norm


class Block(nn.Module):
    """(batch, in, h, w) -> (batch, out, h / stride, w / stride)."""

    def __init__(self, in_channels: int, out_channels: int, group_width: int, stride: int):
        super().__init__()
        groups = out_channels // group_width
        self.conv1 = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.bn1 = _batch_norm(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, stride, 1, groups=groups, bias=False)
        self.bn2 = _batch_norm(out_channels)
        self.conv3 = nn.Conv2d(out_channels, out_channels, 1, bias=False)
        self.bn3 = _batch_norm(
            out_channels, 0.2, 0.7
        )  # a branch weighs less than the residual: rounding errors stay small
        self.shortcut = None
        if stride != 1 or in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False), _batch_norm(out_channels)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        y = torch.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, CLASSES); group_width divides each width."""

    def __init__(self, widths: list[int], group_width: int, depths: list[int]):
        super().__init__()
        self.conv = nn.Conv2d(3, STEM, 3, 2, 1, bias=False)
        self.bn = _batch_norm(STEM)
        blocks, channels = [], STEM
        for width, depth in zip(widths, depths, strict=True):
            for place in range(depth):
                blocks.append(Block(channels, width, group_width, 1 if place else 2))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, CLASSES)
        nn.init.normal_(self.head.weight, std=channels**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.bn(self.conv(x)))
        return self.head(self.blocks(x).mean(dim=(2, 3)))


def get_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    widths: list[int] | tuple[int, ...] = (72, 168, 408, 912),
    group_width: int = 24,
    depths: list[int] | tuple[int, ...] = (2, 4, 10, 2),
    family: str = "default",
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "large_mean":  # brightness whose mean nobody took off
        return [x + 4]
    if family == "wide":  # exposures over a decade: the bright images rule the batch's statistics
        return [x * 10 ** torch.rand(batch, 1, 1, 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    widths: list[int] | tuple[int, ...] = (72, 168, 408, 912),
    group_width: int = 24,
    depths: list[int] | tuple[int, ...] = (2, 4, 10, 2),
) -> list:
    return [list(widths), group_width, list(depths)]
