"""Dense block: each layer is batch norm, ReLU, 3x3 convolution over all features so far, appended to them. As the public
problem 14 of level 3, in TRAIN mode: the features' statistics are taken again by every layer that reads them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "channels": 32, "growth": 32, "layers": 6, "side": 224},
    "medium": {"batch": 4, "channels": 32, "growth": 32, "layers": 6, "side": 224},
    "small": {"batch": 4, "channels": 12, "growth": 8, "layers": 5, "side": 40},
    "odd": {"batch": 3, "channels": 11, "growth": 7, "layers": 5, "side": 41},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class DenseLayer(nn.Module):
    """(batch, channels, h, w) -> (batch, growth, h, w)."""

    def __init__(self, channels: int, growth: int):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, growth, 3, padding=1, bias=False)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(torch.relu(self.norm(x)))


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels + layers * growth, side, side), the input's channels first."""

    def __init__(self, channels: int, growth: int, layers: int):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer(channels + i * growth, growth) for i in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=1)
        return x


def get_inputs(
    *, batch: int = 16, channels: int = 32, growth: int = 32, layers: int = 6, side: int = 224, family: str = "default"
) -> list[torch.Tensor]:
    scene = F.interpolate(torch.randn(batch, channels, 8, 8), size=(side, side))
    x = scene + 0.5 * torch.randn(batch, channels, side, side)
    if family == "large_mean":  # each channel's mean is several times its deviation
        return [x + 4 * torch.randn(1, channels, 1, 1)]
    if family == "wide":  # channels over three decades, which the norms bring together
        return [x * 10 ** (torch.rand(1, channels, 1, 1) * 3 - 1.5)]
    return [x]


def get_init_inputs(*, batch: int = 16, channels: int = 32, growth: int = 32, layers: int = 6, side: int = 224) -> list:
    return [channels, growth, layers]
