"""GELU, exact (with the error function), elementwise. Unlike the public problem 26 the values are signed and weighted
towards where the exact form and the tanh formula part by more than fp32 rounding."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "length": 4096, "features": 4096},
    "medium": {"batch": 8, "length": 4096, "features": 4096},
    "small": {"batch": 4, "length": 256, "features": 1536},
    "odd": {"batch": 3, "length": 263, "features": 1511},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, length, features) -> (batch, length, features)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x)


def get_inputs(
    *, batch: int = 32, length: int = 4096, features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, length, features)
    if family == "default":  # uniform on [-4, 2)
        return [torch.rand(shape) * 6 - 4]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 3 - 2) if family == "wide" else x]


def get_init_inputs(*, batch: int = 32, length: int = 4096, features: int = 4096) -> list:
    return []
