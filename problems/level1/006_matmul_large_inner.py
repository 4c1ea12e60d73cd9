"""C = A @ B where the inner axis is a thousand times longer than the outer ones, so the work has to be split along
the sum. Unlike the public problem 6 the values are signed: else every element is inner / 4 to within a percent."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 256, "inner": 1048576, "cols": 256},
    "medium": {"rows": 256, "inner": 262144, "cols": 256},
    "small": {"rows": 32, "inner": 40960, "cols": 32},
    "odd": {"rows": 31, "inner": 40961, "cols": 29},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, inner) @ (inner, cols) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def get_inputs(
    *, rows: int = 256, inner: int = 1048576, cols: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    a, b = torch.randn(rows, inner), torch.randn(inner, cols)
    if family == "wide":  # the magnitude changes along the sum: a few stretches make most of it
        return [a * 10 ** (torch.rand(inner) * 2 - 1), b]
    if family == "large_mean":  # what is left of the sums when the mean of A has cancelled
        return [a + 4, b]
    return [a, b]


def get_init_inputs(*, rows: int = 256, inner: int = 1048576, cols: int = 256) -> list:
    return []
