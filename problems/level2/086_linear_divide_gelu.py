"""Linear over the last axis of a batch of sequences, division by a constant, exact GELU. The quotients of the public
problem 86 of level 2 are so small that GELU is a halving; here they are of unit scale."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "tokens": 1024, "in_features": 512, "out_features": 4096},
    "medium": {"batch": 8, "tokens": 1024, "in_features": 512, "out_features": 4096},
    "small": {"batch": 8, "tokens": 128, "in_features": 96, "out_features": 1024},
    "odd": {"batch": 9, "tokens": 113, "in_features": 89, "out_features": 1013},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, tokens, in) -> (batch, tokens, out)."""

    def __init__(self, in_features: int, out_features: int, divisor: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=1.5 * divisor * in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5 * divisor)
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.linear(x) / self.divisor)


def get_inputs(
    *, batch: int = 32, tokens: int = 1024, in_features: int = 512, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, tokens, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(tokens).view(1, -1, 1) < tokens * 0.7)]  # the tail of every sequence is padding


def get_init_inputs(*, batch: int = 32, tokens: int = 1024, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features, 10.0]
