"""ResNet-18: stem, eight basic blocks in four stages, global average pool, linear, in eval mode. As the public problem 9
of level 3 with a batch of a useful size, and with norms whose statistics and weights are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "side": 224, "width": 64, "classes": 1000},
    "medium": {"batch": 32, "side": 224, "width": 64, "classes": 1000},
    "small": {"batch": 8, "side": 64, "width": 16, "classes": 100},
    "odd": {"batch": 5, "side": 67, "width": 13, "classes": 97},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


def _batch_norm(channels: int, low: float = 0.5, high: float = 1.2) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, low, high)
    nn.init.normal_(norm.bias, std=0.5)
    nn.init.normal_(norm.running_mean, std=0.5)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class BasicBlock(nn.Module):
    """(batch, in, h, w) -> (batch, out, h / stride, w / stride). A branch weighs less than the residual it is added to."""

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, 1, bias=False)
        self.bn1 = _batch_norm(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False)
        self.bn2 = _batch_norm(out_channels, 0.2, 0.8)
        self.shortcut = None
        if stride != 1 or in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False), _batch_norm(out_channels)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); stages of 1, 2, 4 and 8 times `width` channels."""

    def __init__(self, width: int, classes: int):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn = _batch_norm(width)
        blocks, channels = [], width
        for stage in range(4):
            for place in range(2):
                out_channels = width * 2**stage
                blocks.append(BasicBlock(channels, out_channels, 2 if stage and place == 0 else 1))
                channels = out_channels
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                _centred_(layer.weight, 1.6)
        _centred_(self.head.weight, 1.6)
        nn.init.normal_(self.head.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 3, 2, 1)
        x = self.blocks(x)
        return self.head(x.mean(dim=(2, 3)))


def get_inputs(
    *, batch: int = 128, side: int = 224, width: int = 64, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, 3, side, side)
    if family == "signed":  # white noise, of another contrast in each image
        return [torch.randn(shape) * (torch.rand(batch, 1, 1, 1) + 0.25)]
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(shape)
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 128, side: int = 224, width: int = 64, classes: int = 1000) -> list:
    return [width, classes]
