"""Vision transformer: patches, class token, position embedding, pre-norm blocks, classifier. As the public problem 28 of
level 3, without dropout; there the encoder takes the batch for the sequence. Here all tokens are pooled, so that the last
block's work is all used."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "side": 224, "patch": 16, "width": 512, "heads": 8, "depth": 6, "classes": 1000},
    "medium": {"batch": 16, "side": 224, "patch": 16, "width": 512, "heads": 8, "depth": 6, "classes": 1000},
    "small": {"batch": 4, "side": 64, "patch": 8, "width": 64, "heads": 4, "depth": 3, "classes": 100},
    "odd": {"batch": 3, "side": 63, "patch": 9, "width": 69, "heads": 3, "depth": 3, "classes": 97},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _layer_norm(width: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(width)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    return norm


class Block(nn.Module):
    """(batch, tokens, width) -> the same."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1 = _layer_norm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)  # softmax cancels a bias of the keys
        self.out = nn.Linear(width, width)
        self.norm2 = _layer_norm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
        with torch.no_grad():  # a small stream, whose norms' eps is felt
            self.out.weight.mul_(0.5)
            self.down.weight.mul_(0.5)
        for layer in (self.out, self.up, self.down):
            nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); patch divides side, heads divides width."""

    def __init__(self, side: int, patch: int, width: int, heads: int, depth: int, classes: int):
        super().__init__()
        self.embed = nn.Conv2d(3, width, patch, patch)
        self.class_token = nn.Parameter(0.5 * torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.3 * torch.randn(1, (side // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = _layer_norm(width)
        self.head = nn.Linear(width, classes)
        nn.init.normal_(self.embed.weight, std=(3 * patch**2) ** -0.5)
        nn.init.normal_(self.head.weight, std=width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.embed(x).flatten(2).transpose(1, 2)  # (batch, patches, width)
        tokens = torch.cat([self.class_token.expand(len(x), -1, -1), tokens], dim=1) + self.positions
        return self.head(self.norm(self.blocks(tokens)).mean(dim=1))


def get_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    patch: int = 16,
    width: int = 512,
    heads: int = 8,
    depth: int = 6,
    classes: int = 1000,
    family: str = "default",
) -> list[torch.Tensor]:
    scene = F.interpolate(torch.randn(batch, 3, 2, 2), size=(side, side))
    if family == "ties":  # a picture of few patches, each many times, told apart by their positions only
        tile = torch.randn(batch, 3, patch, patch) + 1
        return [tile.repeat(1, 1, side // patch, side // patch)]
    x = scene + 0.5 * torch.randn(batch, 3, side, side)
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 64,
    side: int = 224,
    patch: int = 16,
    width: int = 512,
    heads: int = 8,
    depth: int = 6,
    classes: int = 1000,
) -> list:
    return [side, patch, width, heads, depth, classes]
