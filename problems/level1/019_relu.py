"""Elementwise max(x, 0). Unlike the public problem 19 the values are signed: on uniform [0, 1) values ReLU is
the identity and returning the input passes."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 4096, "cols": 131072},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 1024, "cols": 3072},
    "odd": {"rows": 509, "cols": 2999},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def get_inputs(*, rows: int = 4096, cols: int = 131072, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1]
    x = torch.randn(rows, cols)
    return [x * 10 ** (torch.rand(rows, cols) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072) -> list:
    return []
