"""x where it is positive, slope times x elsewhere. Unlike the public problem 20 half of the values are negative: on
uniform [0, 1) values leaky ReLU is the identity. The slope is an argument, and another one at the odd size."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 4096, "cols": 131072, "slope": 0.1},
    "medium": {"rows": 4096, "cols": 32768, "slope": 0.1},
    "small": {"rows": 512, "cols": 3072, "slope": 0.1},
    "odd": {"rows": 509, "cols": 2999, "slope": 0.3},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols)."""

    def __init__(self, slope: float):
        super().__init__()
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(x, negative_slope=self.slope)


def get_inputs(
    *, rows: int = 4096, cols: int = 131072, slope: float = 0.1, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-2, 1): the slope decides two thirds of the values
        return [torch.rand(rows, cols) * 3 - 2]
    x = torch.randn(rows, cols)
    return [x * 10 ** (torch.rand(rows, cols) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072, slope: float = 0.1) -> list:
    return [slope]
