"""Swin-MLP: windows, alternately shifted, whose positions are mixed by one matrix a head; patch merging between stages. As
the public problem 29 of level 3, without drop path, and with norms and mixing weights that matter."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "side": 224, "window": 7, "width": 96, "heads": 3, "depths": [2, 2, 6, 2]},
    "medium": {"batch": 16, "side": 224, "window": 7, "width": 96, "heads": 3, "depths": [2, 2, 6, 2]},
    "small": {"batch": 4, "side": 56, "window": 7, "width": 24, "heads": 3, "depths": [2, 2]},
    "odd": {"batch": 3, "side": 40, "window": 5, "width": 35, "heads": 5, "depths": [3, 1]},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
PATCH = 4
CLASSES = 1000


def _layer_norm(width: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(width)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.2)
    return norm


class Block(nn.Module):
    """(batch, h, w, width) -> the same. A shifted block pads its windows with zeros at all four edges."""

    def __init__(self, width: int, heads: int, window: int, shift: int):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.norm1 = _layer_norm(width)
        self.mix = nn.Parameter(torch.randn(heads, window**2, window**2) / window)
        self.mix_bias = nn.Parameter(0.2 * torch.randn(heads, window**2, 1))
        self.norm2 = _layer_norm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        nn.init.normal_(self.up.weight, std=width**-0.5)
        nn.init.normal_(self.down.weight, std=0.5 * (4 * width) ** -0.5)  # a small stream, whose norms' eps is felt
        nn.init.normal_(self.up.bias, std=0.3)
        nn.init.normal_(self.down.bias, std=0.3)

    def _mix_windows(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        s = self.window
        x = x.view(b, h // s, s, w // s, s, self.heads, c // self.heads)
        x = x.permute(0, 1, 3, 5, 2, 4, 6).reshape(b, h // s, w // s, self.heads, s * s, c // self.heads)
        x = self.mix @ x + self.mix_bias
        x = x.view(b, h // s, w // s, self.heads, s, s, c // self.heads)
        return x.permute(0, 1, 4, 2, 5, 3, 6).reshape(b, h, w, c)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, h, w, _ = x.shape
        y = self.norm1(x)
        if self.shift:
            before, after = self.window - self.shift, self.shift
            y = self._mix_windows(F.pad(y, (0, 0, before, after, before, after)))
            y = y[:, before : before + h, before : before + w]
        else:
            y = self._mix_windows(y)
        x = x + y
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Merge(nn.Module):
    """(batch, h, w, width) -> (batch, h / 2, w / 2, 2 * width): four neighbours become one."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = _layer_norm(4 * width)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)
        nn.init.normal_(self.reduce.weight, std=(4 * width) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        x = x.view(b, h // 2, 2, w // 2, 2, c).transpose(2, 3).reshape(b, h // 2, w // 2, 4 * c)
        return self.reduce(self.norm(x))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, CLASSES); window divides each stage's side, heads the first stage's width."""

    def __init__(self, window: int, width: int, heads: int, depths: list[int]):
        super().__init__()
        self.embed = nn.Conv2d(3, width, PATCH, PATCH)
        self.embed_norm = _layer_norm(width)
        layers: list[nn.Module] = []
        for stage, depth in enumerate(depths):
            if stage:
                layers.append(Merge(width))
                width, heads = 2 * width, 2 * heads
            layers += [Block(width, heads, window, window // 2 if i % 2 else 0) for i in range(depth)]
        self.layers = nn.Sequential(*layers)
        self.norm = _layer_norm(width)
        self.head = nn.Linear(width, CLASSES)
        nn.init.normal_(self.head.weight, std=width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed_norm(self.embed(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.layers(x)).mean(dim=(1, 2)))


def get_inputs(
    *,
    batch: int = 64,
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
    batch: int = 64,
    side: int = 224,
    window: int = 7,
    width: int = 96,
    heads: int = 3,
    depths: list[int] | tuple[int, ...] = (2, 2, 6, 2),
) -> list:
    return [window, width, heads, list(depths)]
