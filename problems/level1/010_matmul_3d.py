"""A batch of matrices times one matrix that all share. As the public problem 10 with four times the batch and signed
values; in one family a few input features are outliers, as in a transformer's activations."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "rows": 1024, "inner": 2048, "cols": 768},
    "medium": {"batch": 16, "rows": 1024, "inner": 2048, "cols": 768},
    "small": {"batch": 8, "rows": 96, "inner": 512, "cols": 384},
    "odd": {"batch": 7, "rows": 101, "inner": 509, "cols": 383},
}
INPUTS = ("default", "signed", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, rows, inner) @ (inner, cols) -> (batch, rows, cols)."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.matmul(x, w)


def get_inputs(
    *, batch: int = 64, rows: int = 1024, inner: int = 2048, cols: int = 768, family: str = "default"
) -> list[torch.Tensor]:
    w = torch.randn(inner, cols) * inner**-0.5
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(batch, rows, inner) * 2 - 1, w]
    x = torch.randn(batch, rows, inner)
    if family == "spiky":  # one feature in 64 is 30 times the others
        x = torch.where(torch.rand(inner) < 1 / 64, x * 30, x)
    return [x, w]


def get_init_inputs(*, batch: int = 64, rows: int = 1024, inner: int = 2048, cols: int = 768) -> list:
    return []
