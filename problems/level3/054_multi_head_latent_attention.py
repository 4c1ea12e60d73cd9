"""Multi-head latent attention as in DeepSeek-V2: keys and values of all heads are expanded from one narrow normalised latent,
positions go into a rotary part of the key that the heads share. No public counterpart."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 8, "steps": 1024, "width": 2048, "heads": 16, "latent": 512, "plain": 128, "rotary": 64},
    "medium": {"batch": 2, "steps": 1024, "width": 2048, "heads": 16, "latent": 512, "plain": 128, "rotary": 64},
    "small": {"batch": 2, "steps": 96, "width": 128, "heads": 4, "latent": 48, "plain": 24, "rotary": 12},
    "odd": {"batch": 3, "steps": 83, "width": 113, "heads": 3, "latent": 41, "plain": 29, "rotary": 14},
}
INPUTS = ("default", "ties", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
ROPE_BASE = 10000.0


class Model(nn.Module):
    """(batch, steps, width) -> the same, causal. A head's query and key have `plain` + `rotary` features, its value `plain`.

    Neighbouring features 2i and 2i + 1 of the rotary part turn together; the angles' cosines and sines are buffers.
    """

    def __init__(self, width: int, heads: int, latent: int, plain: int, rotary: int, steps: int):
        super().__init__()
        self.heads, self.latent, self.plain, self.rotary = heads, latent, plain, rotary
        self.query = nn.Linear(width, heads * (plain + rotary), bias=False)
        self.compress = nn.Linear(width, latent + rotary, bias=False)
        self.norm = nn.RMSNorm(latent, eps=1e-6)
        self.expand = nn.Linear(latent, heads * 2 * plain, bias=False)
        self.out = nn.Linear(heads * plain, width, bias=False)
        frequencies = ROPE_BASE ** (-torch.arange(0, rotary, 2).float() / rotary)
        angles = torch.arange(steps).float()[:, None] * frequencies
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        for layer in (self.query, self.compress, self.expand, self.out):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features**-0.5)

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, _ = x.shape
        q = self.query(x).view(b, t, self.heads, -1).transpose(1, 2)
        q_plain, q_rotary = q.split([self.plain, self.rotary], dim=-1)
        latent, k_rotary = self.compress(x).split([self.latent, self.rotary], dim=-1)
        expanded = self.expand(self.norm(latent)).view(b, t, self.heads, -1).transpose(1, 2)
        k_plain, v = expanded.chunk(2, dim=-1)
        k_rotary = self._turned(k_rotary[:, None]).expand(-1, self.heads, -1, -1)
        q = torch.cat([q_plain, self._turned(q_rotary)], dim=-1)
        mixed = F.scaled_dot_product_attention(q, torch.cat([k_plain, k_rotary], dim=-1), v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


def get_inputs(
    *,
    batch: int = 8,
    steps: int = 1024,
    width: int = 2048,
    heads: int = 16,
    latent: int = 512,
    plain: int = 128,
    rotary: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    if family == "ties":  # a motif that comes again and again: only the rotary part tells its copies apart
        motif = torch.randn(batch, 8, width)
        return [motif.repeat(1, steps // 8 + 1, 1)[:, :steps].contiguous()]
    x = torch.randn(batch, steps, width)
    if family == "spiky":  # one feature of thirty is ten times as large, as in a trained residual stream
        return [x * torch.where(torch.rand(width) < 1 / 30, 10.0, 0.7)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 8,
    steps: int = 1024,
    width: int = 2048,
    heads: int = 16,
    latent: int = 512,
    plain: int = 128,
    rotary: int = 64,
) -> list:
    return [width, heads, latent, plain, rotary, steps]
