"""x * sigmoid(x), elementwise, on a transformer's activations. Unlike the public problem 25 the values are signed:
the dip below zero, which sets swish apart from ReLU, lies left of zero."""

import torch
import torch.nn as nn

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
        return x * torch.sigmoid(x)


def get_inputs(
    *, batch: int = 32, length: int = 4096, features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, length, features)
    if family == "default":  # uniform on [-6, 2): mostly in the dip and its tail
        return [torch.rand(shape) * 8 - 6]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 4 - 2) if family == "wide" else x * 2]


def get_init_inputs(*, batch: int = 32, length: int = 4096, features: int = 4096) -> list:
    return []
