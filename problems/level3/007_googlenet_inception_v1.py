"""GoogLeNet: a stem, nine inception modules (four branches side by side, concatenated), global average pool, linear. As
the public problem 7 of level 3, without its dropout, and with weights that keep the signal's scale."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "side": 224, "sixteenths": 16, "classes": 1000},
    "medium": {"batch": 32, "side": 224, "sixteenths": 16, "classes": 1000},
    "small": {"batch": 4, "side": 64, "sixteenths": 6, "classes": 100},
    "odd": {"batch": 3, "side": 59, "sixteenths": 5, "classes": 97},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
# Outputs of a module: 1x1; 1x1 then 3x3; 1x1 then 5x5; pool then 1x1. A pool stands before the third and the eighth.
MODULES = (
    (64, 96, 128, 16, 32, 32),
    (128, 128, 192, 32, 96, 64),
    (192, 96, 208, 16, 48, 64),
    (160, 112, 224, 24, 64, 64),
    (128, 128, 256, 24, 64, 64),
    (112, 144, 288, 32, 64, 64),
    (256, 160, 320, 32, 128, 128),
    (256, 160, 320, 32, 128, 128),
    (384, 192, 384, 48, 128, 128),
)
POOLED_BEFORE = (2, 7)


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


class Inception(nn.Module):
    """(batch, in, h, w) -> (batch, sum of the four branches' channels, h, w)."""

    def __init__(self, in_channels: int, one: int, reduce3: int, three: int, reduce5: int, five: int, pool: int):
        super().__init__()
        self.out_channels = one + three + five + pool
        self.one = nn.Conv2d(in_channels, one, 1)
        self.reduce3 = nn.Conv2d(in_channels, reduce3, 1)
        self.three = nn.Conv2d(reduce3, three, 3, padding=1)
        self.reduce5 = nn.Conv2d(in_channels, reduce5, 1)
        self.five = nn.Conv2d(reduce5, five, 5, padding=2)
        self.pool = nn.Conv2d(in_channels, pool, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one = self.one(x)
        three = self.three(torch.relu(self.reduce3(x)))
        five = self.five(torch.relu(self.reduce5(x)))
        pool = self.pool(F.max_pool2d(x, 3, stride=1, padding=1))
        return torch.relu(torch.cat([one, three, five, pool], dim=1))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); all channel counts times sixteenths / 16."""

    def __init__(self, sixteenths: int, classes: int):
        super().__init__()
        width = 64 * sixteenths // 16
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3)
        self.conv2 = nn.Conv2d(width, width, 1)
        self.conv3 = nn.Conv2d(width, 3 * width, 3, padding=1)
        self.inceptions = nn.ModuleList()
        channels = 3 * width
        for table in MODULES:
            self.inceptions.append(Inception(channels, *(outputs * sixteenths // 16 for outputs in table)))
            channels = self.inceptions[-1].out_channels
        self.head = nn.Linear(channels, classes)
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                _centred_(layer.weight, 1.6)
                nn.init.normal_(layer.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.conv1(x)), 3, 2, padding=1)
        x = torch.relu(self.conv3(torch.relu(self.conv2(x))))
        x = F.max_pool2d(x, 3, 2, padding=1)
        for i, inception in enumerate(self.inceptions):
            if i in POOLED_BEFORE:
                x = F.max_pool2d(x, 3, 2, padding=1)
            x = inception(x)
        return self.head(x.mean(dim=(2, 3)))


def get_inputs(
    *, batch: int = 128, side: int = 224, sixteenths: int = 16, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "sparse":  # one pixel of ten is lit
        return [3 * x * (torch.rand(batch, 1, side, side) < 0.1)]
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 128, side: int = 224, sixteenths: int = 16, classes: int = 1000) -> list:
    return [sixteenths, classes]
