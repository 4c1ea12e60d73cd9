"""U-Net with four levels whose activation is a softmax: convolution, batch norm, softmax, twice a level; batch norm in TRAIN mode,
so the running statistics are part of the answer. As the public problem 45 of level 3, with the softmax over channels and times
their number: along the width, as there, it cancels the norm's bias and shrinks the signal to nothing."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "in_channels": 8, "out_channels": 4, "features": 64, "height": 64, "width": 512},
    "medium": {"batch": 4, "in_channels": 8, "out_channels": 4, "features": 64, "height": 64, "width": 512},
    "small": {"batch": 2, "in_channels": 8, "out_channels": 4, "features": 8, "height": 32, "width": 64},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 3, "features": 7, "height": 48, "width": 16},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}
LEVELS = 4


def _conv_norm(inputs: int, outputs: int) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    norm = nn.BatchNorm2d(outputs)
    nn.init.uniform_(norm.weight, 0.3, 0.8)  # sharper, softmax after softmax makes rounding errors grow
    nn.init.normal_(norm.bias, std=0.5)
    return nn.Sequential(conv, norm)


class DoubleConv(nn.Module):
    """(batch, in, h, w) -> (batch, out, h, w), positive, of mean one at every pixel."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.channels = outputs
        self.first = _conv_norm(inputs, outputs)
        self.second = _conv_norm(outputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.softmax(self.first(x), dim=1) * self.channels
        return torch.softmax(self.second(x), dim=1) * self.channels


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height, width); 16 divides both sides."""

    def __init__(self, in_channels: int, out_channels: int, features: int):
        super().__init__()
        widths = [features * 2**level for level in range(LEVELS + 1)]
        self.down = nn.ModuleList(
            DoubleConv(inputs, outputs)
            for inputs, outputs in zip([in_channels, *widths[:-2]], widths[:-1], strict=True)
        )
        self.bottom = DoubleConv(widths[-2], widths[-1])
        self.rise = nn.ModuleList(
            nn.ConvTranspose2d(2 * width, width, 2, stride=2, bias=False) for width in widths[-2::-1]
        )
        self.up = nn.ModuleList(DoubleConv(2 * width, width) for width in widths[-2::-1])
        self.head = nn.Conv2d(features, out_channels, 1)
        for layer in self.rise:
            nn.init.normal_(layer.weight, std=layer.in_channels**-0.5)
        nn.init.normal_(self.head.weight, std=features**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skipped = []
        for block in self.down:
            x = block(x)
            skipped.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for rise, block in zip(self.rise, self.up, strict=True):
            x = block(torch.cat([rise(x), skipped.pop()], dim=1))
        return self.head(x)


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 8,
    out_channels: int = 4,
    features: int = 64,
    height: int = 64,
    width: int = 512,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "signed":  # white noise
        return [torch.randn(shape)]
    x = F.interpolate(torch.randn(batch, in_channels, 8, 8), size=(height, width)) + 0.5 * torch.randn(shape)
    if family == "wide":  # exposures over three decades: the bright images rule the batch's statistics
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 2)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 16,
    in_channels: int = 8,
    out_channels: int = 4,
    features: int = 64,
    height: int = 64,
    width: int = 512,
) -> list:
    return [in_channels, out_channels, features]
