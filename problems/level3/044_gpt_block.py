"""Transformer block: layer norm, causal attention, residual, layer norm, GELU MLP, residual. As the public problem 44
of level 3, without dropout and with weights at which attention and MLP weigh as much as the residual stream."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "steps": 512, "width": 768, "heads": 12},
    "medium": {"batch": 16, "steps": 512, "width": 512, "heads": 8},
    "small": {"batch": 2, "steps": 64, "width": 128, "heads": 4},
    "odd": {"batch": 3, "steps": 53, "width": 111, "heads": 3},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, steps, width) -> the same; heads divides width. The mask is a buffer: True where attention may look."""

    def __init__(self, width: int, heads: int, steps: int):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)  # softmax cancels a bias of the keys
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.ones(steps, steps, dtype=torch.bool).tril())
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.5)

    def _attend(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5  # (b, heads, t, t)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(b, t, c))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self._attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def get_inputs(
    *, batch: int = 32, steps: int = 512, width: int = 768, heads: int = 12, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, steps, width)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "wide":  # steps of very unequal size
        return [x * 10 ** (torch.rand(batch, steps, 1) * 4 - 3)]
    return [x]


def get_init_inputs(*, batch: int = 32, steps: int = 512, width: int = 768, heads: int = 12) -> list:
    return [width, heads, steps]
