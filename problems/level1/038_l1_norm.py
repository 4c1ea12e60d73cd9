"""Every row divided by the mean of its absolute values; rows of an odd length. Unlike the public problem 38, where
the mean of 65535 uniform values is 1/2 in every row, the rows differ in magnitude."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "cols": 32767},
    "medium": {"rows": 4096, "cols": 32767},
    "small": {"rows": 384, "cols": 4095},
    "odd": {"rows": 379, "cols": 4099},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols), rows of mean absolute value 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.mean(torch.abs(x), dim=1, keepdim=True)


def get_inputs(*, rows: int = 16384, cols: int = 32767, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "signed":
        return [x * 2.5]
    if family == "wide":  # rows over six decades, all brought to one
        return [x * 10 ** (torch.rand(rows, 1) * 6 - 3)]
    if family == "sparse":  # one element in fifty is not zero
        return [x * (torch.rand(rows, cols) < 0.02)]
    return [(x + torch.randn(rows, 1)) * (torch.rand(rows, 1) * 3 + 0.1)]


def get_init_inputs(*, rows: int = 16384, cols: int = 32767) -> list:
    return []
