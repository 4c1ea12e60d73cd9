"""Convolutional vision transformer (CvT): depthwise 3x3 convolutions before the attention's projections, keys and values
at half the resolution, norms after the branches. The public problem 32 of level 3 flattens the image to a single token, so
that its attention runs over two."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "side": 128, "width": 256, "heads": 4, "depth": 6, "classes": 1000},
    "medium": {"batch": 8, "side": 128, "width": 256, "heads": 4, "depth": 6, "classes": 1000},
    "small": {"batch": 2, "side": 64, "width": 48, "heads": 3, "depth": 2, "classes": 100},
    "odd": {"batch": 3, "side": 51, "width": 45, "heads": 5, "depth": 2, "classes": 97},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _layer_norm(width: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(width)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    return norm


class Projection(nn.Module):
    """(batch, width, h, w) -> (batch, heads, tokens, width / heads): depthwise convolution, then linear."""

    def __init__(self, width: int, heads: int, stride: int):
        super().__init__()
        self.heads = heads
        self.conv = nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False)
        self.linear = nn.Linear(width, width, bias=False)
        nn.init.normal_(self.conv.weight, std=1 / 3)
        nn.init.normal_(self.linear.weight, std=1.2 * width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.linear(self.conv(x).flatten(2).transpose(1, 2))
        return tokens.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Block(nn.Module):
    """(batch, width, h, w) -> the same."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.query = Projection(width, heads, 1)
        self.key = Projection(width, heads, 2)
        self.value = Projection(width, heads, 2)
        self.out = nn.Linear(width, width)
        self.norm1 = _layer_norm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.norm2 = _layer_norm(width)
        for layer in (self.out, self.up, self.down):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        mixed = F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))
        tokens = x.flatten(2).transpose(1, 2)  # (b, h * w, c)
        tokens = self.norm1(tokens + self.out(mixed.transpose(1, 2).reshape(b, h * w, c)))
        tokens = self.norm2(tokens + self.down(torch.relu(self.up(tokens))))
        return tokens.transpose(1, 2).reshape(b, c, h, w)


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); heads divides width, the stem's stride is 4."""

    def __init__(self, width: int, heads: int, depth: int, classes: int):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 4, 3)
        self.stem_norm = _layer_norm(width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, classes)
        nn.init.normal_(self.head.weight, std=width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem_norm(self.stem(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.head(self.blocks(x).mean(dim=(2, 3)))


def get_inputs(
    *,
    batch: int = 32,
    side: int = 128,
    width: int = 256,
    heads: int = 4,
    depth: int = 6,
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
    *, batch: int = 32, side: int = 128, width: int = 256, heads: int = 4, depth: int = 6, classes: int = 1000
) -> list:
    return [width, heads, depth, classes]
