"""Linear over the last axis of a batch of sequences, mish, mish. As the public problem 29 of level 2, with signed
values of a scale at which mish is neither zero nor the identity, and three axes as in a transformer."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "tokens": 512, "in_features": 512, "out_features": 8192},
    "medium": {"batch": 16, "tokens": 512, "in_features": 512, "out_features": 8192},
    "small": {"batch": 8, "tokens": 128, "in_features": 96, "out_features": 1024},
    "odd": {"batch": 7, "tokens": 139, "in_features": 83, "out_features": 1019},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, tokens, in) -> (batch, tokens, out)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mish(F.mish(self.linear(x)))


def get_inputs(
    *, batch: int = 64, tokens: int = 512, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, tokens, in_features)
    if family == "default":  # uniform on [-3, 3)
        return [torch.rand(shape) * 6 - 3]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.arange(tokens).view(1, -1, 1) < tokens * 0.7)]  # the tail of every sequence is padding


def get_init_inputs(*, batch: int = 64, tokens: int = 512, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features]
