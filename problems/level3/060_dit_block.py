"""Diffusion transformer block: a condition shifts, scales and gates the layer norms, the attention and the MLP (adaLN). No public
counterpart; the modulation, zero when untrained, is not."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "tokens": 256, "width": 1152, "heads": 16},
    "medium": {"batch": 8, "tokens": 256, "width": 1152, "heads": 16},
    "small": {"batch": 8, "tokens": 64, "width": 96, "heads": 4},
    "odd": {"batch": 11, "tokens": 47, "width": 87, "heads": 3},
}
INPUTS = ("default", "spiky", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (batch, tokens, width), condition (batch, width) -> (batch, tokens, width); heads divides width."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.modulate = nn.Linear(width, 6 * width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)  # softmax cancels a bias of the keys
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        nn.init.normal_(self.modulate.weight, std=width**-0.5)
        nn.init.normal_(self.modulate.bias, std=0.5)
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.2 * layer.in_features**-0.5)
        with torch.no_grad():  # what is added to a faint stream leaves it faint
            self.out.weight.mul_(0.25)
        for layer in (self.up, self.down):
            nn.init.normal_(layer.bias, std=0.3)

    def _attend(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(b, t, c))

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        width = x.shape[-1:]
        modulation = self.modulate(F.silu(condition))[:, None].chunk(6, dim=-1)
        shift1, scale1, gate1, shift2, scale2, gate2 = modulation  # each (batch, 1, width)
        y = self._attend(F.layer_norm(x, width, eps=1e-5) * (1 + scale1) + shift1)
        x = x + gate1 * y
        y = self.up(F.layer_norm(x, width, eps=1e-5) * (1 + scale2) + shift2)
        return x + gate2 * self.down(F.gelu(y, approximate="tanh"))


def get_inputs(
    *, batch: int = 32, tokens: int = 256, width: int = 1152, heads: int = 16, family: str = "default"
) -> list[torch.Tensor]:
    x = torch.randn(batch, tokens, width)
    condition = 1.5 * torch.randn(batch, width)
    if family == "spiky":  # one feature of thirty is ten times as large
        return [x * torch.where(torch.rand(width) < 1 / 30, 10.0, 0.7), condition]
    if family == "wide":  # noise levels over two decades
        return [x * 10 ** (torch.rand(batch, 1, 1) * 2 - 2), condition]
    return [x, condition]


def get_init_inputs(*, batch: int = 32, tokens: int = 256, width: int = 1152, heads: int = 16) -> list:
    return [width, heads]
