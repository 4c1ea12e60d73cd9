"""T5 encoder attention: RMS norm, unscaled scores plus a learned bias by bucketed relative position, residual. No public
counterpart; the query weights carry the scale that T5 leaves out of the scores."""

import math

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "steps": 512, "width": 1024, "heads": 16},
    "medium": {"batch": 8, "steps": 512, "width": 1024, "heads": 16},
    "small": {"batch": 6, "steps": 128, "width": 96, "heads": 4},
    "odd": {"batch": 5, "steps": 127, "width": 93, "heads": 3},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
BUCKETS = 32  # half of them for keys after the query
FARTHEST = 128  # from here on all distances share a bucket


def _buckets(steps: int) -> torch.Tensor:
    """(steps, steps) int64: small distances have a bucket each, larger ones share logarithmically growing ones."""
    half, exact = BUCKETS // 2, BUCKETS // 4
    growth = (FARTHEST / exact) ** (1 / (half - exact))
    starts = [*range(1, exact + 1), *(math.ceil(exact * growth**i - 1e-9) for i in range(1, half - exact))]
    places = torch.arange(steps)
    offset = places - places[:, None]  # key minus query
    bucket = torch.bucketize(offset.abs(), torch.tensor(starts), right=True)
    return bucket + half * (offset > 0)


class Model(nn.Module):
    """(batch, steps, width) -> the same; heads divides width. Every step sees all others."""

    def __init__(self, width: int, heads: int, steps: int):
        super().__init__()
        self.heads = heads
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.bias = nn.Embedding(BUCKETS, heads)
        self.register_buffer("buckets", _buckets(steps))
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.qkv.weight, std=1.2 * width**-0.5)
        with torch.no_grad():
            self.qkv.weight[:width].mul_((width // heads) ** -0.5)
        nn.init.normal_(self.out.weight, std=2 * width**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) + self.bias(self.buckets[:t, :t]).permute(2, 0, 1)
        mixed = torch.softmax(scores, dim=-1) @ v
        return x + self.out(mixed.transpose(1, 2).reshape(b, t, c))


def get_inputs(
    *, batch: int = 32, steps: int = 512, width: int = 1024, heads: int = 16, family: str = "default"
) -> list[torch.Tensor]:
    x = torch.randn(batch, steps, width)
    if family == "ties":  # a motif that comes again and again: only the bias tells its copies apart
        return [x[:, :8].repeat(1, steps // 8 + 1, 1)[:, :steps].contiguous()]
    if family == "wide":  # steps of very unequal size, which the norm brings together
        return [x * 10 ** (torch.rand(batch, steps, 1) * 3 - 2)]
    return [x]


def get_init_inputs(*, batch: int = 32, steps: int = 512, width: int = 1024, heads: int = 16) -> list:
    return [width, heads, steps]
