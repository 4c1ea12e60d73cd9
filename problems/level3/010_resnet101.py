"""ResNet-101: bottleneck blocks 3, 4, 23 and 3 deep, in eval mode. As the public problem 10 of level 3, with norms whose
statistics and weights are not the identity; the smaller shapes have fewer blocks."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "side": 224, "width": 64, "depths": [3, 4, 23, 3], "classes": 1000},
    "medium": {"batch": 8, "side": 224, "width": 64, "depths": [3, 4, 23, 3], "classes": 1000},
    "small": {"batch": 4, "side": 64, "width": 12, "depths": [2, 2, 6, 2], "classes": 100},
    "odd": {"batch": 3, "side": 61, "width": 11, "depths": [2, 3, 5, 1], "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


def _batch_norm(channels: int, low: float = 0.5, high: float = 1.2) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, low, high)
    nn.init.normal_(norm.bias, std=0.6)
    nn.init.normal_(norm.running_mean, std=0.5)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class Bottleneck(nn.Module):
    """(batch, in, h, w) -> (batch, 4 * mid, h / stride, w / stride): 1x1 down, 3x3 with the stride, 1x1 up, residual."""

    def __init__(self, in_channels: int, mid: int, stride: int):
        super().__init__()
        out_channels = 4 * mid
        self.conv1 = nn.Conv2d(in_channels, mid, 1, bias=False)
        self.bn1 = _batch_norm(mid)
        self.conv2 = nn.Conv2d(mid, mid, 3, stride, 1, bias=False)
        self.bn2 = _batch_norm(mid)
        self.conv3 = nn.Conv2d(mid, out_channels, 1, bias=False)
        self.bn3 = _batch_norm(out_channels, 0.2, 0.6)  # 33 such branches add up
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
    """(batch, 3, side, side) -> (batch, classes); stage i has depths[i] blocks of width * 2**i inner channels."""

    def __init__(self, width: int, depths: list[int], classes: int):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn = _batch_norm(width)
        blocks, channels = [], width
        for stage, depth in enumerate(depths):
            for place in range(depth):
                blocks.append(Bottleneck(channels, width * 2**stage, 2 if stage and place == 0 else 1))
                channels = 4 * width * 2**stage
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                _centred_(layer.weight, 1.25)
        _centred_(self.head.weight, 1.6)
        nn.init.normal_(self.head.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 3, 2, 1)
        x = self.blocks(x)
        return self.head(x.mean(dim=(2, 3)))


def get_inputs(
    *,
    batch: int = 32,
    side: int = 224,
    width: int = 64,
    depths: list[int] | tuple[int, ...] = (3, 4, 23, 3),
    classes: int = 1000,
    family: str = "default",
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "large_mean":  # brightness whose mean nobody took off
        return [x + 4]
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 32,
    side: int = 224,
    width: int = 64,
    depths: list[int] | tuple[int, ...] = (3, 4, 23, 3),
    classes: int = 1000,
) -> list:
    return [width, list(depths), classes]
