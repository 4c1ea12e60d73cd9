"""MobileNetV2: seventeen inverted residuals (expand, depthwise, project) with ReLU6, in eval mode. As the public problem
20 of level 3, without its dropout, and with norms at which the clamp at 6 acts."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "side": 224, "eighths": 8, "classes": 1000},
    "medium": {"batch": 32, "side": 224, "eighths": 8, "classes": 1000},
    "small": {"batch": 4, "side": 64, "eighths": 4, "classes": 100},
    "odd": {"batch": 3, "side": 61, "eighths": 3, "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
# Expansion, output channels, blocks, stride of the first block.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
SPREAD = 0.2  # of what a convolution gives a norm: small, so that the norm's eps counts
GAIN = 0.62  # of a convolution that reads ReLU6, which at this spread has a variance of about 2


class ConvNorm(nn.Sequential):
    """Convolution and batch norm; with ReLU6 and a spread that reaches 6 where `clamped`."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        gain: float = 1.0,
        clamped: bool = True,
    ):
        conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        norm = nn.BatchNorm2d(outputs)
        nn.init.normal_(conv.weight, std=gain * conv.weight[0].numel() ** -0.5)
        if groups != outputs:  # rows of mean zero: what all images have in common is not passed on, and they stay apart
            with torch.no_grad():
                conv.weight.sub_(conv.weight.mean(dim=(1, 2, 3), keepdim=True))
        nn.init.uniform_(norm.weight, *((1.5, 3.5) if clamped else (0.5, 1.2)))
        nn.init.normal_(norm.bias, std=0.3)
        nn.init.normal_(norm.running_mean, std=0.3)
        nn.init.uniform_(norm.running_var, 0.5, 1.5)
        with torch.no_grad():
            conv.weight.mul_(SPREAD)
            norm.running_mean.mul_(SPREAD)
            norm.running_var.mul_(SPREAD**2)
        super().__init__(conv, norm, *([nn.ReLU6()] if clamped else []))


class InvertedResidual(nn.Module):
    """(batch, in, h, w) -> (batch, out, h / stride, w / stride); a residual where the shape stays."""

    def __init__(self, in_channels: int, out_channels: int, expansion: int, stride: int):
        super().__init__()
        mid = expansion * in_channels
        self.residual = stride == 1 and in_channels == out_channels
        gain = GAIN if expansion == 1 else 1.0
        self.branch = nn.Sequential(
            *([ConvNorm(in_channels, mid, 1)] if expansion > 1 else []),
            ConvNorm(mid, mid, 3, stride, groups=mid, gain=GAIN),
            ConvNorm(mid, out_channels, 1, gain=GAIN * gain**0.5, clamped=False),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.branch(x) if self.residual else self.branch(x)


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); all channel counts times eighths / 8."""

    def __init__(self, eighths: int, classes: int):
        super().__init__()
        channels = 32 * eighths // 8
        layers: list[nn.Module] = [ConvNorm(3, channels, 3, 2)]
        for expansion, outputs, depth, stride in STAGES:
            for place in range(depth):
                layers.append(InvertedResidual(channels, outputs * eighths // 8, expansion, 1 if place else stride))
                channels = outputs * eighths // 8
        last = 1280 * eighths // 8
        self.layers = nn.Sequential(*layers, ConvNorm(channels, last, 1))
        self.head = nn.Linear(last, classes)
        nn.init.normal_(self.head.bias, std=0.5)
        nn.init.normal_(self.head.weight, std=last**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x).mean(dim=(2, 3)))


def get_inputs(
    *, batch: int = 128, side: int = 224, eighths: int = 8, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 2, 2), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "large_mean":  # a colour cast of each image's own
        return [x + 3 * torch.randn(batch, 3, 1, 1)]
    if family == "wide":  # exposures over three decades: the bright images are clamped nearly everywhere
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 2)]
    return [x]


def get_init_inputs(*, batch: int = 128, side: int = 224, eighths: int = 8, classes: int = 1000) -> list:
    return [eighths, classes]
