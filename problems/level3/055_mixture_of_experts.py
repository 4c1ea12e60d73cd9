"""Mixture of SwiGLU experts: each token is worked on by the few experts it is sent to, weighed by the router. No public
counterpart. Where a token goes is an input, so that rounding sends no token elsewhere; the reference runs every expert on every
token and keeps what was asked for."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"tokens": 4096, "width": 1024, "hidden": 1408, "experts": 16, "chosen": 2},
    "medium": {"tokens": 2048, "width": 1024, "hidden": 1408, "experts": 8, "chosen": 2},
    "small": {"tokens": 384, "width": 96, "hidden": 128, "experts": 8, "chosen": 2},
    "odd": {"tokens": 383, "width": 89, "hidden": 109, "experts": 7, "chosen": 3},
}
INPUTS = ("default", "ties", "spiky")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """x (tokens, width), route (tokens, chosen) int64, distinct in a row -> (tokens, width)."""

    def __init__(self, width: int, hidden: int, experts: int):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.gate = nn.Parameter(torch.randn(experts, width, hidden) * 1.5 * width**-0.5)
        self.up = nn.Parameter(torch.randn(experts, width, hidden) * 1.5 * width**-0.5)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) * 1.5 * hidden**-0.5)
        nn.init.normal_(self.router.weight, std=width**-0.5)

    def forward(self, x: torch.Tensor, route: torch.Tensor) -> torch.Tensor:
        logits = self.router(x)
        weights = torch.softmax(logits.gather(1, route), dim=-1)
        share = torch.zeros_like(logits).scatter(1, route, weights)  # (tokens, experts), zero where not sent
        hidden = F.silu(x @ self.gate) * (x @ self.up)  # (experts, tokens, hidden)
        return ((hidden @ self.down) * share.t()[:, :, None]).sum(dim=0)


def get_inputs(
    *,
    tokens: int = 4096,
    width: int = 1024,
    hidden: int = 1408,
    experts: int = 16,
    chosen: int = 2,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(tokens, width)
    liking = torch.rand(tokens, experts)
    if family == "ties":  # half of all tokens go to the same experts, in another order: the others starve
        crowd = torch.arange(tokens) % 2 == 0
        liking = torch.where(crowd[:, None], liking + (torch.arange(experts) < chosen), liking)
    if family == "spiky":  # one feature of thirty is ten times as large, as in a trained residual stream
        x = x * torch.where(torch.rand(width) < 1 / 30, 6.0, 0.7)
    return [x, liking.argsort(dim=1, descending=True)[:, :chosen].contiguous()]


def get_init_inputs(
    *, tokens: int = 4096, width: int = 1024, hidden: int = 1408, experts: int = 16, chosen: int = 2
) -> list:
    return [width, hidden, experts]
