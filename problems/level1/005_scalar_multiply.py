"""Every element of a matrix times one number. The number is a tensor of no dimensions, drawn anew for every call: the
public problem 5 always multiplies by the same constant, which a kernel may hold in its code."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 4096, "cols": 131072},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 512, "cols": 3072},
    "odd": {"rows": 509, "cols": 2999},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """matrix (rows, cols), factor () -> (rows, cols)."""

    def forward(self, matrix: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        return matrix * factor


def get_inputs(*, rows: int = 4096, cols: int = 131072, family: str = "default") -> list[torch.Tensor]:
    factor = torch.rand(()) * 4 + 1.5  # never close to 1, where the product would be the input
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, cols) * 2 - 1, factor]
    x = torch.randn(rows, cols)
    if family == "wide":
        return [x * 10 ** (torch.rand(rows, cols) * 6 - 3), factor]
    return [x, -factor]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072) -> list:
    return []
