"""Softmax over the last axis. Unlike the public problem 23 the logits are spread out and the rows shorter: on
393216 uniform [0, 1) logits every output is about 2.5e-6, so zeros pass."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "cols": 16384},
    "medium": {"rows": 8192, "cols": 16384},
    "small": {"rows": 512, "cols": 2048},
    "odd": {"rows": 487, "cols": 1999},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols); every row sums to 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(*, rows: int = 32768, cols: int = 16384, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "signed":
        return [x]
    if family == "wide":  # from nearly uniform rows to nearly one-hot ones
        return [x * 10 ** (torch.rand(rows, 1) * 4 - 2)]
    if family == "large_mean":  # exp overflows unless the row maximum is taken off first
        return [x + 1000]
    return [x * 3]


def get_init_inputs(*, rows: int = 32768, cols: int = 16384) -> list:
    return []
