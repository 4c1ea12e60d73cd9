"""Causal grouped-query attention with rotary positions, from input to output projection: several query heads share a key and
value head. No public counterpart."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 4, "steps": 2048, "width": 2048, "heads": 16, "kv_heads": 4},
    "medium": {"batch": 2, "steps": 1024, "width": 2048, "heads": 16, "kv_heads": 4},
    "small": {"batch": 4, "steps": 128, "width": 128, "heads": 8, "kv_heads": 2},
    "odd": {"batch": 3, "steps": 109, "width": 126, "heads": 9, "kv_heads": 3},
}
INPUTS = ("default", "ties", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
ROPE_BASE = 10000.0


def _angles(steps: int, head_width: int) -> torch.Tensor:
    """(steps, head_width / 2): position times the frequency of each pair of features."""
    frequencies = ROPE_BASE ** (-torch.arange(0, head_width, 2).float() / head_width)
    return torch.arange(steps).float()[:, None] * frequencies


class Model(nn.Module):
    """(batch, steps, width) -> the same; heads divides width into even head widths, kv_heads divides heads.

    Feature i of a head turns with feature i + half; the table of angles' cosines and sines is a buffer.
    """

    def __init__(self, width: int, heads: int, kv_heads: int, steps: int):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = heads, kv_heads, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.value = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.register_buffer("cos", _angles(steps, self.head_width).cos())
        self.register_buffer("sin", _angles(steps, self.head_width).sin())
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.normal_(layer.weight, std=1.2 * width**-0.5)

    def _heads(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.unflatten(-1, (heads, self.head_width)).transpose(1, 2)  # (b, heads, t, head_width)

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        t = x.shape[2]
        first, second = x.chunk(2, dim=-1)
        cos, sin = self.cos[:t], self.sin[:t]
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self._turned(self._heads(self.query(x), self.heads))
        k = self._turned(self._heads(self.key(x), self.kv_heads))
        v = self._heads(self.value(x), self.kv_heads)
        shared = self.heads // self.kv_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


def get_inputs(
    *, batch: int = 4, steps: int = 2048, width: int = 2048, heads: int = 16, kv_heads: int = 4, family: str = "default"
) -> list[torch.Tensor]:
    if family == "ties":  # a motif that comes again and again: only positions tell its copies apart
        motif = torch.randn(batch, 8, width)
        return [motif.repeat(1, steps // 8 + 1, 1)[:, :steps].contiguous()]
    x = torch.randn(batch, steps, width)
    if family == "spiky":  # one feature of thirty is ten times as large, as in a trained residual stream
        return [x * torch.where(torch.rand(width) < 1 / 30, 10.0, 0.7)]
    return [x]


def get_init_inputs(
    *, batch: int = 4, steps: int = 2048, width: int = 2048, heads: int = 16, kv_heads: int = 4
) -> list:
    return [width, heads, kv_heads, steps]
