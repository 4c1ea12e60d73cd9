"""One decoding step of grouped-query attention over a cache: project the new token, turn it by its position, attend to what is
filled of the cache and to itself. No public counterpart; every sequence has its own length. The new key and value are outputs,
not written in place."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 96, "capacity": 4096, "heads": 32, "kv_heads": 8, "head_width": 128},
    "medium": {"batch": 32, "capacity": 2048, "heads": 32, "kv_heads": 8, "head_width": 128},
    "small": {"batch": 16, "capacity": 768, "heads": 8, "kv_heads": 2, "head_width": 32},
    "odd": {"batch": 13, "capacity": 509, "heads": 9, "kv_heads": 3, "head_width": 34},
}
INPUTS = ("default", "sparse", "spiky")
SPEC = {"precision": "fp32", "mode": "eval"}
ROPE_BASE = 10000.0


class Model(nn.Module):
    """x (batch, width), keys and values (batch, kv_heads, capacity, head_width), lengths (batch) int64 -> x's shape, k, v.

    width is heads * head_width. Places from a length on are not read; the new token's position is the length, below capacity.
    The new key, turned, and value are (batch, kv_heads, head_width). Cosines and sines of the angles are buffers.
    """

    def __init__(self, heads: int, kv_heads: int, head_width: int, capacity: int):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = heads, kv_heads, head_width
        width = heads * head_width
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        frequencies = ROPE_BASE ** (-torch.arange(0, head_width, 2).float() / head_width)
        angles = torch.arange(capacity).float()[:, None] * frequencies
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        nn.init.normal_(self.qkv.weight, std=1.2 * width**-0.5)
        nn.init.normal_(self.out.weight, std=2 * width**-0.5)

    def _turned(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]  # (batch, 1, head_width / 2)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    def forward(
        self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        b, capacity = keys.shape[0], keys.shape[2]
        heads = self.qkv(x).view(b, -1, self.head_width)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        q, k = self._turned(q, lengths), self._turned(k, lengths)
        q = q.view(b, self.kv_heads, -1, self.head_width) * self.head_width**-0.5  # heads that share a key together
        empty = torch.arange(capacity, device=x.device) >= lengths[:, None]
        cached = (q @ keys.transpose(-2, -1)).masked_fill(empty[:, None, None], float("-inf"))
        own = (q * k[:, :, None]).sum(dim=-1, keepdim=True)
        weights = torch.softmax(torch.cat([cached, own], dim=-1), dim=-1)
        mixed = weights[..., :-1] @ values + weights[..., -1:] * v[:, :, None]
        return self.out(mixed.reshape(b, -1)), k, v.contiguous()


def get_inputs(
    *,
    batch: int = 96,
    capacity: int = 4096,
    heads: int = 32,
    kv_heads: int = 8,
    head_width: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, heads * head_width)
    keys = 1.5 * torch.randn(batch, kv_heads, capacity, head_width)
    values = torch.randn(batch, kv_heads, capacity, head_width)
    lengths = torch.randint(capacity // 4, capacity, (batch,))
    if family == "sparse":  # most sequences have just begun
        lengths = torch.where(torch.rand(batch) < 0.75, lengths // 32, lengths)
    if family == "spiky":  # the first place of the cache draws most of the weight, as in trained models
        keys[:, :, :1] *= 4
        values[:, :, :1] *= 0.1
    return [x, keys, values, lengths]


def get_init_inputs(
    *, batch: int = 96, capacity: int = 4096, heads: int = 32, kv_heads: int = 8, head_width: int = 128
) -> list:
    return [heads, kv_heads, head_width, capacity]
