"""Swin transformer V2: cosine attention in alternately shifted windows, a position bias from a small MLP, norms after the
branches. As the public problem 30 of level 3, without drop path, and with a temperature and a bias that spread the scores."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "side": 224, "window": 7, "width": 96, "heads": 3, "depths": [2, 2, 6, 2]},
    "medium": {"batch": 8, "side": 224, "window": 7, "width": 96, "heads": 3, "depths": [2, 2, 6, 2]},
    "small": {"batch": 2, "side": 56, "window": 7, "width": 24, "heads": 3, "depths": [2, 2]},
    "odd": {"batch": 3, "side": 40, "window": 5, "width": 35, "heads": 5, "depths": [3, 1]},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
PATCH = 4
CLASSES = 1000
BIAS_HIDDEN = 128
MASKED = -100.0


def _layer_norm(width: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(width)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.3)
    return norm


def _offsets(window: int) -> torch.Tensor:
    """Log-spaced offset (dy, dx) of every pair of places in a window: (window ** 4, 2)."""
    places = torch.cartesian_prod(torch.arange(window), torch.arange(window))
    offsets = (places[:, None] - places[None]).reshape(-1, 2).float() * (8 / max(window - 1, 1))
    return offsets.sign() * torch.log2(offsets.abs() + 1) / 3


def _shift_mask(side: int, window: int, shift: int) -> torch.Tensor:
    """(windows, window ** 2, window ** 2): MASKED between places that were not neighbours before the cyclic shift."""
    zone = (torch.arange(side) >= side - window).long() + (torch.arange(side) >= side - shift).long()
    zones = (zone[:, None] * 3 + zone[None]).view(side // window, window, side // window, window)
    zones = zones.transpose(1, 2).reshape(-1, window**2)
    return (zones[:, :, None] != zones[:, None]).float() * MASKED


class WindowAttention(nn.Module):
    """(batch, windows, places, width) -> the same."""

    def __init__(self, width: int, heads: int, side: int, window: int, shift: int):
        super().__init__()
        self.heads, self.places = heads, window**2
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.log_scale = nn.Parameter(torch.empty(heads, 1, 1).uniform_(1.0, 2.5))
        self.bias_up = nn.Linear(2, BIAS_HIDDEN)
        self.bias_down = nn.Linear(BIAS_HIDDEN, heads, bias=False)
        self.register_buffer("offsets", _offsets(window))
        self.register_buffer("mask", _shift_mask(side, window, shift) if shift else None)
        nn.init.normal_(self.qkv.weight, std=width**-0.5)
        nn.init.normal_(self.out.weight, std=0.5 * width**-0.5)
        nn.init.normal_(self.bias_up.weight, std=1.0)
        nn.init.normal_(self.bias_down.weight, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, p, c = x.shape
        q, k, v = self.qkv(x).view(b, n, p, 3, self.heads, c // self.heads).permute(3, 0, 1, 4, 2, 5)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)  # (b, n, heads, p, p)
        bias = self.bias_down(torch.relu(self.bias_up(self.offsets))).view(p, p, self.heads).permute(2, 0, 1)
        scores = scores * self.log_scale.exp() + 16 * torch.sigmoid(bias)
        if self.mask is not None:
            scores = scores + self.mask[:, None]
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(2, 3).reshape(b, n, p, c))


class Block(nn.Module):
    """(batch, side, side, width) -> the same."""

    def __init__(self, width: int, heads: int, side: int, window: int, shift: int):
        super().__init__()
        self.window, self.shift = window, shift
        self.attend = WindowAttention(width, heads, side, window, shift)
        self.norm1 = _layer_norm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.norm2 = _layer_norm(width)
        nn.init.normal_(self.up.weight, std=width**-0.5)
        nn.init.normal_(self.down.weight, std=0.5 * (4 * width) ** -0.5)  # a small stream, whose norms' eps is felt
        nn.init.normal_(self.up.bias, std=0.5)
        nn.init.normal_(self.down.bias, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        s = self.window
        y = torch.roll(x, (-self.shift, -self.shift), dims=(1, 2)) if self.shift else x
        y = y.view(b, h // s, s, w // s, s, c).transpose(2, 3).reshape(b, -1, s * s, c)
        y = self.attend(y)
        y = y.view(b, h // s, w // s, s, s, c).transpose(2, 3).reshape(b, h, w, c)
        y = torch.roll(y, (self.shift, self.shift), dims=(1, 2)) if self.shift else y
        x = x + self.norm1(y)
        return x + self.norm2(self.down(F.gelu(self.up(x))))


class Merge(nn.Module):
    """(batch, h, w, width) -> (batch, h / 2, w / 2, 2 * width): four neighbours become one."""

    def __init__(self, width: int):
        super().__init__()
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = _layer_norm(2 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        x = x.view(b, h // 2, 2, w // 2, 2, c).transpose(2, 3).reshape(b, h // 2, w // 2, 4 * c)
        return self.norm(self.reduce(x))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, CLASSES); window divides each stage's side, heads the first stage's width.

    Where one window is the whole stage nothing is shifted.
    """

    def __init__(self, side: int, window: int, width: int, heads: int, depths: list[int]):
        super().__init__()
        self.embed = nn.Conv2d(3, width, PATCH, PATCH)
        self.embed_norm = _layer_norm(width)
        layers: list[nn.Module] = []
        side = side // PATCH
        for stage, depth in enumerate(depths):
            if stage:
                layers.append(Merge(width))
                side, width, heads = side // 2, 2 * width, 2 * heads
            for i in range(depth):
                layers.append(Block(width, heads, side, window, window // 2 if i % 2 and side > window else 0))
        self.layers = nn.Sequential(*layers)
        self.norm = _layer_norm(width)
        self.head = nn.Linear(width, CLASSES)
        nn.init.normal_(self.head.weight, std=width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed_norm(self.embed(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.layers(x)).mean(dim=(1, 2)))


def get_inputs(
    *,
    batch: int = 32,
    side: int = 224,
    window: int = 7,
    width: int = 96,
    heads: int = 3,
    depths: list[int] | tuple[int, ...] = (2, 2, 6, 2),
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
    batch: int = 32,
    side: int = 224,
    window: int = 7,
    width: int = 96,
    heads: int = 3,
    depths: list[int] | tuple[int, ...] = (2, 2, 6, 2),
) -> list:
    return [side, window, width, heads, list(depths)]
