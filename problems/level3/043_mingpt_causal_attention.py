"""Causal multi-head attention with its projections, the scores and the mask written out. As the public problem 43 of level
3, without dropout; there the scores are all but equal, so that attention is a running mean."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "steps": 1024, "width": 768, "heads": 12},
    "medium": {"batch": 4, "steps": 1024, "width": 768, "heads": 12},
    "small": {"batch": 4, "steps": 128, "width": 96, "heads": 4},
    "odd": {"batch": 5, "steps": 113, "width": 93, "heads": 3},
}
INPUTS = ("default", "large_mean", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, steps, width) -> the same; heads divides width. The mask is a buffer: True where attention may look."""

    def __init__(self, width: int, heads: int, steps: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)  # softmax cancels a bias of the keys
        self.out = nn.Linear(width, width)
        self.register_buffer("mask", torch.ones(steps, steps, dtype=torch.bool).tril())
        nn.init.normal_(self.qkv.weight, std=1.2 * width**-0.5)
        nn.init.normal_(self.out.weight, std=width**-0.5)
        nn.init.normal_(self.out.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5  # (b, heads, t, t)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(b, t, c))


def get_inputs(
    *, batch: int = 16, steps: int = 1024, width: int = 768, heads: int = 12, family: str = "default"
) -> list[torch.Tensor]:
    x = torch.randn(batch, steps, width)
    if family == "large_mean":  # features that are the same at all steps
        return [x + torch.randn(batch, 1, width)]
    if family == "spiky":  # one feature of thirty is ten times as large, as in a trained residual stream
        return [x * torch.where(torch.rand(width) < 1 / 30, 10.0, 0.7)]
    return [x]


def get_init_inputs(*, batch: int = 16, steps: int = 1024, width: int = 768, heads: int = 12) -> list:
    return [width, heads, steps]
