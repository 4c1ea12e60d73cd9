"""Prefix sums of the values that a boolean mask keeps; the mask is drawn anew for every call. As the public problem
93 with signed values; masks that keep little or whole rows of nothing are families, and a kernel may skip what is
masked."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "cols": 16384},
    "medium": {"rows": 8192, "cols": 16384},
    "small": {"rows": 448, "cols": 2048},
    "odd": {"rows": 439, "cols": 2029},
}
INPUTS = ("default", "signed", "sparse", "zeros")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """x (rows, cols), mask (rows, cols) bool -> (rows, cols)."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * mask, dim=1)


def get_inputs(*, rows: int = 32768, cols: int = 16384, family: str = "default") -> list[torch.Tensor]:
    chance = torch.rand(rows, cols)
    if family == "default":  # uniform on [-1, 1), half of it kept
        return [torch.rand(rows, cols) * 2 - 1, chance < 0.5]
    x = torch.randn(rows, cols)
    if family == "sparse":
        return [x, chance < 0.02]
    if family == "zeros":  # a fifth of the rows is masked out
        return [x, (chance < 0.5) & (torch.rand(rows, 1) < 0.8)]
    return [x, chance < 0.7]


def get_init_inputs(*, rows: int = 32768, cols: int = 16384) -> list:
    return []
