"""BERT's embeddings and first layer: tokens, positions and segments looked up and normalised, attention under a padding mask,
GELU MLP, a layer norm after each branch. No public counterpart; without dropout, and with norms that are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "steps": 256, "width": 768, "heads": 12, "vocabulary": 30522},
    "medium": {"batch": 16, "steps": 256, "width": 768, "heads": 12, "vocabulary": 30522},
    "small": {"batch": 6, "steps": 64, "width": 96, "heads": 4, "vocabulary": 1000},
    "odd": {"batch": 5, "steps": 53, "width": 87, "heads": 3, "vocabulary": 997},
}
INPUTS = ("default", "ties")
SPEC = {"precision": "fp32", "mode": "eval"}


def _layer_norm(width: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(width, eps=1e-12)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    return norm


class Model(nn.Module):
    """tokens and segments (batch, steps) int64, present (batch, steps) bool -> (batch, steps, width); heads divides width."""

    def __init__(self, width: int, heads: int, steps: int, vocabulary: int):
        super().__init__()
        self.heads = heads
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(steps, width)
        self.segment = nn.Embedding(2, width)
        self.norm1 = _layer_norm(width)
        self.query_value = nn.Linear(width, 2 * width)
        self.key = nn.Linear(width, width, bias=False)  # softmax cancels its bias
        self.out = nn.Linear(width, width)
        self.norm2 = _layer_norm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.norm3 = _layer_norm(width)
        for layer in (self.query_value, self.key, self.out, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.2 * layer.in_features**-0.5)
        for layer in (self.query_value, self.out, self.up, self.down):
            nn.init.normal_(layer.bias, std=0.3)

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, tokens: torch.Tensor, segments: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        positions = self.position.weight[: tokens.shape[1]]
        x = self.norm1(self.token(tokens) + self.segment(segments) + positions)
        q, v = (self._heads(half) for half in self.query_value(x).chunk(2, dim=-1))
        k = self._heads(self.key(x))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=present[:, None, None])
        x = self.norm2(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.norm3(x + self.down(F.gelu(self.up(x))))


def get_inputs(
    *,
    batch: int = 64,
    steps: int = 256,
    width: int = 768,
    heads: int = 12,
    vocabulary: int = 30522,
    family: str = "default",
) -> list[torch.Tensor]:
    tokens = torch.randint(vocabulary, (batch, steps))
    if family == "ties":  # a handful of words: rows of the table are shared, positions tell them apart
        tokens = tokens % 5
    lengths = torch.randint(steps // 2, steps + 1, (batch, 1))
    boundary = torch.randint(steps // 4, steps // 2, (batch, 1))
    places = torch.arange(steps)
    return [tokens, (places >= boundary).long(), places < lengths]


def get_init_inputs(
    *, batch: int = 64, steps: int = 256, width: int = 768, heads: int = 12, vocabulary: int = 30522
) -> list:
    return [width, heads, steps, vocabulary]
