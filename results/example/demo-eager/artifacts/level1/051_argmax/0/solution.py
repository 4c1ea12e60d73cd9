"""Index of the maximum over the middle axis, int64. The public problem 51 on a smaller tensor, with tied values as
a family: any of the tied places is right."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "length": 4096, "cols": 4095},
    "medium": {"batch": 32, "length": 2048, "cols": 4095},
    "small": {"batch": 4, "length": 512, "cols": 511},
    "odd": {"batch": 3, "length": 521, "cols": 479},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, length, cols) -> (batch, cols) int64 in [0, length)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmax(x, dim=1)


def get_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, length, cols)
    if family == "default":  # uniform on [0, 1)
        return [torch.rand(shape)]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 6 - 3)]
    if family == "ties":  # a dozen distinct values, so a maximum stands in several places
        return [(x * 2).round()]
    return [x]


def get_init_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095) -> list:
    return []
