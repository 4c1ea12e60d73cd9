"""GELU by the tanh formula, spelled out in seven elementwise steps that a kernel can fuse. As the public problem 88
with signed values and twice the rows."""

import math

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "features": 8192},
    "medium": {"rows": 4096, "features": 8192},
    "small": {"rows": 512, "features": 768},
    "odd": {"rows": 509, "features": 751},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, features) -> (rows, features)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


def get_inputs(*, rows: int = 16384, features: int = 8192, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-4, 2)
        return [torch.rand(rows, features) * 6 - 4]
    x = torch.randn(rows, features)
    return [x * 10 ** (torch.rand(rows, features) * 3 - 2) if family == "wide" else x]


def get_init_inputs(*, rows: int = 16384, features: int = 8192) -> list:
    return []
