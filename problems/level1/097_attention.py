"""Scaled dot-product attention of several heads, no mask, no dropout. Unlike the public problem 97 queries and keys
are signed: with uniform [0, 1) ones the weights are nearly equal and every output is the mean of the values. Heads
are of the size in use, on longer sequences."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 8, "heads": 16, "length": 2048, "dim": 128},
    "medium": {"batch": 2, "heads": 16, "length": 2048, "dim": 128},
    "small": {"batch": 2, "heads": 4, "length": 256, "dim": 64},
    "odd": {"batch": 3, "heads": 5, "length": 199, "dim": 56},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """queries, keys, values (batch, heads, length, dim) -> (batch, heads, length, dim)."""

    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(queries, keys, values)


def get_inputs(
    *, batch: int = 8, heads: int = 16, length: int = 2048, dim: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, heads, length, dim)
    queries, keys, values = torch.randn(shape), torch.randn(shape), torch.randn(shape)
    if family == "wide":  # heads from an even gaze to a fixed stare
        queries = queries * 10 ** (torch.rand(1, heads, 1, 1) * 2 - 1)
    if family == "spiky":  # one key in fifty has scores so high that exp overflows unless the maximum is taken off
        keys = torch.where(torch.rand(1, 1, length, 1) < 0.02, keys * 40, keys)
    if family == "default":
        queries = queries * 2
    return [queries, keys, values]


def get_init_inputs(*, batch: int = 8, heads: int = 16, length: int = 2048, dim: int = 128) -> list:
    return []
