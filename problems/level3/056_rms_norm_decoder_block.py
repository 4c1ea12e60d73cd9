"""Decoder block of today's language models: RMS norm, causal grouped-query attention with normalised queries and keys and
rotary positions, residual, RMS norm, SwiGLU MLP, residual. No public counterpart; every branch weighs as much as the stream."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 4, "steps": 1024, "width": 2048, "heads": 16, "kv_heads": 4, "hidden": 5632},
    "medium": {"batch": 2, "steps": 1024, "width": 1024, "heads": 8, "kv_heads": 2, "hidden": 2816},
    "small": {"batch": 4, "steps": 64, "width": 96, "heads": 6, "kv_heads": 2, "hidden": 256},
    "odd": {"batch": 5, "steps": 53, "width": 90, "heads": 9, "kv_heads": 3, "hidden": 241},
}
INPUTS = ("default", "spiky", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
ROPE_BASE = 500000.0


def _rms_norm(width: int, low: float = 0.5, high: float = 1.5) -> nn.RMSNorm:
    norm = nn.RMSNorm(width, eps=1e-6)
    nn.init.uniform_(norm.weight, low, high)
    return norm


class Attention(nn.Module):
    """(batch, steps, width) -> the same."""

    def __init__(self, width: int, heads: int, kv_heads: int, steps: int):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = heads, kv_heads, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * self.head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm_q = _rms_norm(self.head_width, 0.7, 1.6)
        self.norm_k = _rms_norm(self.head_width, 0.7, 1.6)
        frequencies = ROPE_BASE ** (-torch.arange(0, self.head_width, 2).float() / self.head_width)
        angles = torch.arange(steps).float()[:, None] * frequencies
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        t = x.shape[2]
        return x * self.cos[:t] + torch.cat([-second, first], dim=-1) * self.sin[:t]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(x).unflatten(-1, (-1, self.head_width)).transpose(1, 2)  # (b, all heads, t, head_width)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        q, k = self._turned(self.norm_q(q)), self._turned(self.norm_k(k))
        shared = self.heads // self.kv_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Model(nn.Module):
    """(batch, steps, width) -> the same; heads divides width into even head widths, kv_heads divides heads."""

    def __init__(self, width: int, heads: int, kv_heads: int, hidden: int, steps: int):
        super().__init__()
        self.norm1 = _rms_norm(width)
        self.attend = Attention(width, heads, kv_heads, steps)
        self.norm2 = _rms_norm(width)
        self.gate_up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        for layer in (self.attend.qkv, self.attend.out, self.gate_up, self.down):
            nn.init.normal_(layer.weight, std=1.5 * layer.in_features**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def get_inputs(
    *,
    batch: int = 4,
    steps: int = 1024,
    width: int = 2048,
    heads: int = 16,
    kv_heads: int = 4,
    hidden: int = 5632,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, steps, width)
    if family == "spiky":  # one feature of thirty is ten times as large, as in a trained residual stream
        return [x * torch.where(torch.rand(width) < 1 / 30, 10.0, 0.7)]
    if family == "wide":  # steps of very unequal size, which the norms bring together
        return [x * 10 ** (torch.rand(batch, steps, 1) * 3 - 2)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 4,
    steps: int = 1024,
    width: int = 2048,
    heads: int = 16,
    kv_heads: int = 4,
    hidden: int = 5632,
) -> list:
    return [width, heads, kv_heads, hidden, steps]
