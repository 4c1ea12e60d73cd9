"""ShuffleNet: units of grouped 1x1, channel shuffle, depthwise 3x3 and grouped 1x1 convolutions, in eval mode. As the
public problem 26 of level 3, with the paper's strided units (an average pool beside the branch), which are missing there."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 256, "side": 224, "stem": 24, "widths": [240, 480, 960], "groups": 3, "classes": 1000},
    "medium": {"batch": 64, "side": 224, "stem": 24, "widths": [240, 480, 960], "groups": 3, "classes": 1000},
    "small": {"batch": 8, "side": 64, "stem": 12, "widths": [60, 120, 240], "groups": 3, "classes": 100},
    "odd": {"batch": 7, "side": 61, "stem": 15, "widths": [60, 140, 220], "groups": 5, "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
DEPTHS = (4, 8, 4)


def _conv_norm(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, gain: float = 1.4
) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outputs)
    nn.init.normal_(conv.weight, std=gain * conv.weight[0].numel() ** -0.5)
    if groups != outputs:  # rows of mean zero: what all images have in common is not passed on, and they stay apart
        with torch.no_grad():
            conv.weight.sub_(conv.weight.mean(dim=(1, 2, 3), keepdim=True))
    nn.init.uniform_(norm.weight, 0.5, 1.2)
    nn.init.normal_(norm.bias, std=0.5)
    nn.init.normal_(norm.running_mean, std=0.8)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return nn.Sequential(conv, norm)


class Unit(nn.Module):
    """(batch, in, h, w) -> (batch, out, h, w), added to x; or, strided, (batch, out, h / 2, w / 2), x pooled and appended."""

    def __init__(self, in_channels: int, out_channels: int, groups: int, strided: bool, first_groups: int):
        super().__init__()
        mid = out_channels // 4
        self.groups, self.strided = groups, strided
        self.reduce = _conv_norm(in_channels, mid, 1, groups=first_groups)
        self.depthwise = _conv_norm(mid, mid, 3, 2 if strided else 1, groups=mid)
        appended = out_channels - in_channels if strided else out_channels
        self.expand = _conv_norm(mid, appended, 1, groups=groups, gain=1.0 if strided else 0.7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.reduce(x))
        b, c, h, w = y.shape
        y = y.view(b, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(b, c, h, w)
        y = self.expand(self.depthwise(y))
        if self.strided:
            return torch.relu(torch.cat([F.avg_pool2d(x, 3, 2, padding=1), y], dim=1))
        return torch.relu(x + y)


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); 4 * groups divides each width."""

    def __init__(self, stem: int, widths: list[int], groups: int, classes: int):
        super().__init__()
        self.stem = _conv_norm(3, stem, 3, 2)
        units, channels = [], stem
        for stage, (width, depth) in enumerate(zip(widths, DEPTHS, strict=True)):
            for place in range(depth):
                first = stage == 0 and place == 0  # so few channels are not grouped
                units.append(Unit(channels, width, groups, place == 0, 1 if first else groups))
                channels = width
        self.units = nn.Sequential(*units)
        self.head = nn.Linear(channels, classes)
        nn.init.normal_(self.head.bias, std=0.5)
        nn.init.normal_(self.head.weight, std=channels**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.stem(x)), 3, 2, 1)
        return self.head(self.units(x).mean(dim=(2, 3)))


def get_inputs(
    *,
    batch: int = 256,
    side: int = 224,
    stem: int = 24,
    widths: list[int] | tuple[int, ...] = (240, 480, 960),
    groups: int = 3,
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
    batch: int = 256,
    side: int = 224,
    stem: int = 24,
    widths: list[int] | tuple[int, ...] = (240, 480, 960),
    groups: int = 3,
    classes: int = 1000,
) -> list:
    return [stem, list(widths), groups, classes]
