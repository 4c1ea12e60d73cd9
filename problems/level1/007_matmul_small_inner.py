"""C = A @ B with an inner axis of 64: the product writes far more than it reads. As the public problem 7 with signed
values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "inner": 64, "cols": 32768},
    "medium": {"rows": 16384, "inner": 64, "cols": 16384},
    "small": {"rows": 1280, "inner": 64, "cols": 1024},
    "odd": {"rows": 1151, "inner": 61, "cols": 1087},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, inner) @ (inner, cols) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def get_inputs(*, rows: int = 32768, inner: int = 64, cols: int = 32768, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    a, b = torch.randn(rows, inner), torch.randn(inner, cols)
    if family == "wide":
        return [a * 10 ** (torch.rand(rows, inner) * 4 - 2), b]
    return [a, b]


def get_init_inputs(*, rows: int = 32768, inner: int = 64, cols: int = 32768) -> list:
    return []
