"""x right of zero, alpha * (exp(x) - 1) left of it. Unlike the public problem 31 the values are signed (on uniform
[0, 1) values ELU is the identity) and alpha is not 1; it is an argument, and another one at the odd size."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 4096, "cols": 131072, "alpha": 1.5},
    "medium": {"rows": 4096, "cols": 32768, "alpha": 1.5},
    "small": {"rows": 512, "cols": 3072, "alpha": 1.5},
    "odd": {"rows": 509, "cols": 2999, "alpha": 0.7},
}
INPUTS = ("default", "signed", "wide", "near_zero")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols), above -alpha."""

    def __init__(self, alpha: float):
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.elu(x, alpha=self.alpha)


def get_inputs(
    *, rows: int = 4096, cols: int = 131072, alpha: float = 1.5, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-3, 1)
        return [torch.rand(rows, cols) * 4 - 3]
    x = torch.randn(rows, cols)
    if family == "wide":
        return [x * 10 ** (torch.rand(rows, cols) * 3 - 2)]
    if family == "near_zero":  # exp(x) - 1 cancels, expm1(x) does not
        return [x * 1e-3]
    return [x]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072, alpha: float = 1.5) -> list:
    return [alpha]
