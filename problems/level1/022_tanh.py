"""tanh(x), elementwise. Unlike the public problem 22 the values are signed and reach the flat ends; in one family
they are so small that tanh(x) is nearly x, where 1 - 2 / (exp(2x) + 1) loses its digits."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "cols": 32768},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 768, "cols": 2048},
    "odd": {"rows": 757, "cols": 2027},
}
INPUTS = ("default", "signed", "wide", "near_zero")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols) in (-1, 1)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


def get_inputs(*, rows: int = 16384, cols: int = 32768, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "wide":  # far past the flat ends: exp(2x) overflows
        return [x * 10 ** (torch.rand(rows, cols) * 4 - 1)]
    if family == "near_zero":
        return [x * 0.02]
    return [x if family == "signed" else x * 1.5]


def get_init_inputs(*, rows: int = 16384, cols: int = 32768) -> list:
    return []
