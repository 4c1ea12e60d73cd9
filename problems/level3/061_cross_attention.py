"""Cross-attention as in a text-to-image U-Net: many pixels attend to a few words of another width, padding masked; layer norm
before, residual after. No public counterpart."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "pixels": 4096, "width": 640, "words": 77, "context_width": 1024, "heads": 10},
    "medium": {"batch": 4, "pixels": 4096, "width": 640, "words": 77, "context_width": 1024, "heads": 10},
    "small": {"batch": 4, "pixels": 400, "width": 96, "words": 21, "context_width": 72, "heads": 4},
    "odd": {"batch": 5, "pixels": 307, "width": 93, "words": 19, "context_width": 67, "heads": 3},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """x (batch, pixels, width), context (batch, words, context_width), present (batch, words) bool -> as x."""

    def __init__(self, width: int, context_width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(context_width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        for layer in (self.query, self.key_value, self.out):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features**-0.5)
        nn.init.normal_(self.out.bias, std=0.3)

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: torch.Tensor, context: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        q = self._heads(self.query(self.norm(x)))
        k, v = (self._heads(half) for half in self.key_value(context).chunk(2, dim=-1))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=present[:, None, None])
        return x + self.out(mixed.transpose(1, 2).flatten(2))


def get_inputs(
    *,
    batch: int = 16,
    pixels: int = 4096,
    width: int = 640,
    words: int = 77,
    context_width: int = 1024,
    heads: int = 10,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, pixels, width)
    context = torch.randn(batch, words, context_width)
    present = torch.arange(words) < torch.randint(words // 4, words + 1, (batch, 1))
    if family == "ties":  # a prompt of one word, said many times: attention weighs equal keys equally
        return [x, context[:, :1].expand(-1, words, -1) + 0.0, present]
    if family == "wide":  # words from faint to loud; the loud ones take all or nothing
        return [x, context * 10 ** (torch.rand(batch, words, 1) * 2 - 1.5), present]
    return [x, context, present]


def get_init_inputs(
    *,
    batch: int = 16,
    pixels: int = 4096,
    width: int = 640,
    words: int = 77,
    context_width: int = 1024,
    heads: int = 10,
) -> list:
    return [width, context_width, heads]
