"""Self-attention over the pixels of a feature map, residual, layer norm. As the public problem 31 of level 3, with a
projection whose scores are spread out: there attention is nearly an average over all pixels."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 8, "width": 128, "heads": 4, "side": 64},
    "medium": {"batch": 2, "width": 128, "heads": 4, "side": 64},
    "small": {"batch": 2, "width": 64, "heads": 4, "side": 16},
    "odd": {"batch": 3, "width": 51, "heads": 3, "side": 13},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, width, side, side) -> the same; heads divides width."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)  # softmax cancels a bias of the keys
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.qkv.weight, std=1.5 * width**-0.5)
        nn.init.normal_(self.out.weight, std=width**-0.5)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        tokens = x.flatten(2).transpose(1, 2)  # (b, h * w, c)
        q, k, v = self.qkv(tokens).view(b, h * w, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)  # (b, heads, h * w, c / heads)
        mixed = self.out(mixed.transpose(1, 2).reshape(b, h * w, c))
        return self.norm(tokens + mixed).transpose(1, 2).reshape(b, c, h, w)


def get_inputs(
    *, batch: int = 8, width: int = 128, heads: int = 4, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, width, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "wide":  # pixels of very unequal brightness
        return [x * 10 ** (torch.rand(batch, 1, side, side) * 3 - 2.5)]
    return [x]


def get_init_inputs(*, batch: int = 8, width: int = 128, heads: int = 4, side: int = 64) -> list:
    return [width, heads]
