"""1 / (1 + exp(-x)), elementwise. Unlike the public problem 21 the values reach both flat ends: on uniform [0, 1)
values a straight line comes within a percent."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 4096, "cols": 131072},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 512, "cols": 3072},
    "odd": {"rows": 509, "cols": 2999},
}
INPUTS = ("default", "signed", "wide", "near_zero")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols) in (0, 1)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x)


def get_inputs(*, rows: int = 4096, cols: int = 131072, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "signed":
        return [x]
    if family == "wide":  # exp overflows on one side unless it is taken of -|x|
        return [x * 10 ** (torch.rand(rows, cols) * 6 - 3)]
    if family == "near_zero":  # around the centre, where it is a line of slope 1/4
        return [x * 0.2]
    return [x * 4]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072) -> list:
    return []
