"""Causal attention over the last `window` positions with a learned sink: each head may give part of its weight to nothing.
No public counterpart. The reference scores all pairs and masks most of them."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 2, "heads": 16, "steps": 4096, "head_width": 128, "window": 512},
    "medium": {"batch": 1, "heads": 16, "steps": 2048, "head_width": 128, "window": 256},
    "small": {"batch": 2, "heads": 4, "steps": 256, "head_width": 32, "window": 48},
    "odd": {"batch": 3, "heads": 3, "steps": 251, "head_width": 29, "window": 37},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """q, k and v (batch, heads, steps, head_width) -> the same shape. Step t sees steps t - window + 1 to t."""

    def __init__(self, heads: int, window: int):
        super().__init__()
        self.window = window
        self.sink = nn.Parameter(torch.randn(heads) + 2)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        b, h, t, d = q.shape
        places = torch.arange(t, device=q.device)
        distance = places[:, None] - places
        hidden = (distance < 0) | (distance >= self.window)
        scores = (q @ k.transpose(-2, -1) * d**-0.5).masked_fill(hidden, float("-inf"))
        sink = self.sink[:, None, None].expand(b, h, t, 1)
        weights = torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[..., :-1]
        return weights @ v


def get_inputs(
    *,
    batch: int = 2,
    heads: int = 16,
    steps: int = 4096,
    head_width: int = 128,
    window: int = 512,
    family: str = "default",
) -> list[torch.Tensor]:
    q, k, v = torch.randn(3, batch, heads, steps, head_width).unbind()
    if family == "ties":  # keys in runs of eight equal ones: equal scores, whose values still differ
        return [2 * q, k[:, :, ::8].repeat_interleave(8, dim=2)[:, :, :steps].contiguous(), v]
    if family == "wide":  # from queries that see all alike to queries that see a single key
        return [q * 10 ** (torch.rand(batch, heads, steps, 1) * 2.5 - 1.5), k, v]
    return [2 * q, k.contiguous(), v.contiguous()]


def get_init_inputs(
    *, batch: int = 2, heads: int = 16, steps: int = 4096, head_width: int = 128, window: int = 512
) -> list:
    return [heads, window]
