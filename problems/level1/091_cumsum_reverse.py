"""Suffix sums: every element and all to its right. Unlike the public problem 91 the values are signed, as sums of
uniform [0, 1) values are a ramp to within a percent."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "cols": 32768},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 320, "cols": 4096},
    "odd": {"rows": 313, "cols": 4099},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols); the first column holds the sums of the rows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x.flip(1), dim=1).flip(1)


def get_inputs(*, rows: int = 16384, cols: int = 32768, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1]
    x = torch.randn(rows, cols)
    if family == "wide":  # rows of unlike magnitude
        return [x * 10 ** (torch.rand(rows, 1) * 2 - 1)]
    if family == "large_mean":  # each row has a slope of its own
        return [x + 2 * torch.randn(rows, 1)]
    return [x]


def get_init_inputs(*, rows: int = 16384, cols: int = 32768) -> list:
    return []
