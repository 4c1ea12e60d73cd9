"""Inclusive running product over the last axis. In the public problem 90 the products of uniform [0, 1) values vanish
within some tens of 32768 columns; here they wander round 1 with both signs, so that every column matters to the end."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "cols": 16384},
    "medium": {"rows": 8192, "cols": 16384},
    "small": {"rows": 512, "cols": 2048},
    "odd": {"rows": 503, "cols": 2003},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumprod(x, dim=1)


def get_inputs(*, rows: int = 32768, cols: int = 16384, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # the magnitudes that the products will have
        magnitude = torch.rand(rows, cols) * 1.5 + 0.5
    else:
        magnitude = torch.exp(torch.randn(rows, cols) * (1.2 if family == "wide" else 0.4))
    x = torch.where(torch.rand(rows, cols) < 0.5, -magnitude, magnitude)
    x[:, 1:] /= magnitude[:, :-1]
    if family == "zeros":  # one row in thirty meets a zero, from where on it is zero: its logarithm is not finite
        x[::30, cols // 3] = 0
    return [x]


def get_init_inputs(*, rows: int = 32768, cols: int = 16384) -> list:
    return []
