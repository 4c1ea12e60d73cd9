"""DenseNet-121: four dense blocks with transitions between them, in eval mode. As the public problem 15 of level 3, with
the paper's 1x1 bottleneck in each layer (left out there) and norms that are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "side": 224, "growth": 32, "depths": [6, 12, 24, 16], "classes": 1000},
    "medium": {"batch": 16, "side": 224, "growth": 32, "depths": [6, 12, 24, 16], "classes": 1000},
    "small": {"batch": 4, "side": 64, "growth": 8, "depths": [3, 4, 6, 4], "classes": 100},
    "odd": {"batch": 3, "side": 67, "growth": 7, "depths": [3, 5, 4, 3], "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
BOTTLENECK = 4  # channels between the two convolutions of a layer, in units of growth


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


def _batch_norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, 0.5, 1.2)
    nn.init.normal_(norm.bias, std=0.6)
    nn.init.normal_(norm.running_mean, std=0.5)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class DenseLayer(nn.Module):
    """(batch, channels, h, w) -> (batch, channels + growth, h, w)."""

    def __init__(self, channels: int, growth: int):
        super().__init__()
        self.bn1 = _batch_norm(channels)
        self.conv1 = nn.Conv2d(channels, BOTTLENECK * growth, 1, bias=False)
        self.bn2 = _batch_norm(BOTTLENECK * growth)
        self.conv2 = nn.Conv2d(BOTTLENECK * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv1(torch.relu(self.bn1(x)))
        return torch.cat([x, self.conv2(torch.relu(self.bn2(y)))], dim=1)


class Transition(nn.Module):
    """(batch, channels, h, w) -> (batch, channels / 2, h / 2, w / 2)."""

    def __init__(self, channels: int):
        super().__init__()
        self.bn = _batch_norm(channels)
        self.conv = nn.Conv2d(channels, channels // 2, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.avg_pool2d(self.conv(torch.relu(self.bn(x))), 2)


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes)."""

    def __init__(self, growth: int, depths: list[int], classes: int):
        super().__init__()
        channels = 2 * growth
        self.conv = nn.Conv2d(3, channels, 7, 2, 3, bias=False)
        self.bn = _batch_norm(channels)
        layers: list[nn.Module] = []
        for block, depth in enumerate(depths):
            if block:
                layers.append(Transition(channels))
                channels //= 2
            for _ in range(depth):
                layers.append(DenseLayer(channels, growth))
                channels += growth
        self.layers = nn.Sequential(*layers)
        self.last_bn = _batch_norm(channels)
        self.head = nn.Linear(channels, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                _centred_(layer.weight, 1.6)
        _centred_(self.head.weight, 1.6)
        nn.init.normal_(self.head.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 3, 2, 1)
        x = torch.relu(self.last_bn(self.layers(x)))
        return self.head(x.mean(dim=(2, 3)))


def get_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    growth: int = 32,
    depths: list[int] | tuple[int, ...] = (6, 12, 24, 16),
    classes: int = 1000,
    family: str = "default",
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 2, 2), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "large_mean":  # a colour cast of each image's own
        return [x + 3 * torch.randn(batch, 3, 1, 1)]
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    growth: int = 32,
    depths: list[int] | tuple[int, ...] = (6, 12, 24, 16),
    classes: int = 1000,
) -> list:
    return [growth, list(depths), classes]
