"""EfficientNet-B0: sixteen MBConv blocks with SiLU and squeeze-and-excitation, in eval mode. As the public problem 22 of
level 3, with the paper's table of blocks and excitation (both shortened there), without its dropout and drop path."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "side": 224, "sixteenths": 16, "classes": 1000},
    "medium": {"batch": 32, "side": 224, "sixteenths": 16, "classes": 1000},
    "small": {"batch": 4, "side": 64, "sixteenths": 8, "classes": 100},
    "odd": {"batch": 3, "side": 59, "sixteenths": 7, "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
# Expansion, output channels, blocks, stride of the first block, kernel.
STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


def _conv_norm(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, gain: float = 1.15
) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outputs, eps=1e-3)
    nn.init.normal_(conv.weight, std=gain * conv.weight[0].numel() ** -0.5)
    if groups != outputs:  # rows of mean zero: what all images have in common is not passed on, and they stay apart
        with torch.no_grad():
            conv.weight.sub_(conv.weight.mean(dim=(1, 2, 3), keepdim=True))
    nn.init.uniform_(norm.weight, 0.5, 1.2)
    nn.init.normal_(norm.bias, std=0.3)
    nn.init.normal_(norm.running_mean, std=0.5)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return nn.Sequential(conv, norm)


class MBConv(nn.Module):
    """(batch, in, h, w) -> (batch, out, h / stride, w / stride); a residual where the shape stays."""

    def __init__(self, in_channels: int, out_channels: int, expansion: int, stride: int, kernel: int):
        super().__init__()
        mid, squeezed = in_channels * expansion, max(in_channels // 4, 4)
        self.residual = stride == 1 and in_channels == out_channels
        self.expand = _conv_norm(in_channels, mid, 1) if expansion > 1 else None
        self.depthwise = _conv_norm(mid, mid, kernel, stride, groups=mid, gain=1.5)  # reads SiLU
        self.down = nn.Conv2d(mid, squeezed, 1)
        self.up = nn.Conv2d(squeezed, mid, 1)
        self.project = _conv_norm(mid, out_channels, 1, gain=2.2)  # reads SiLU times a gate
        nn.init.normal_(self.down.weight, std=2 * mid**-0.5)
        nn.init.normal_(self.up.weight, std=1.5 * squeezed**-0.5)
        nn.init.normal_(self.down.bias)
        nn.init.normal_(self.up.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x if self.expand is None else F.silu(self.expand(x))
        y = F.silu(self.depthwise(y))
        gate = torch.sigmoid(self.up(F.silu(self.down(y.mean(dim=(2, 3), keepdim=True)))))
        y = self.project(y * gate)
        return x + y if self.residual else y


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); all channel counts times sixteenths / 16."""

    def __init__(self, sixteenths: int, classes: int):
        super().__init__()
        channels, last = 32 * sixteenths // 16, 1280 * sixteenths // 16
        self.stem = _conv_norm(3, channels, 3, 2)
        blocks = []
        for expansion, outputs, depth, stride, kernel in STAGES:
            for place in range(depth):
                blocks.append(MBConv(channels, outputs * sixteenths // 16, expansion, 1 if place else stride, kernel))
                channels = outputs * sixteenths // 16
        self.blocks = nn.Sequential(*blocks)
        self.last = _conv_norm(channels, last, 1)
        self.head = nn.Linear(last, classes)
        nn.init.normal_(self.head.bias, std=0.5)
        nn.init.normal_(self.head.weight, std=last**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(F.silu(self.stem(x)))
        return self.head(F.silu(self.last(x)).mean(dim=(2, 3)))


def get_inputs(
    *, batch: int = 128, side: int = 224, sixteenths: int = 16, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 2, 2), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "large_mean":  # a colour cast of each image's own
        return [x + 3 * torch.randn(batch, 3, 1, 1)]
    if family == "wide":  # exposures over two decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    return [x]


def get_init_inputs(*, batch: int = 128, side: int = 224, sixteenths: int = 16, classes: int = 1000) -> list:
    return [sixteenths, classes]
