"""diag(d) @ B with the diagonal given as a vector: every row of B times its own number. As the public problem 12, on
a larger matrix and with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "cols": 32768},
    "medium": {"rows": 8192, "cols": 16384},
    "small": {"rows": 1024, "cols": 1536},
    "odd": {"rows": 1021, "cols": 1499},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """diagonal (rows,), matrix (rows, cols) -> (rows, cols)."""

    def forward(self, diagonal: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
        return diagonal[:, None] * matrix


def get_inputs(*, rows: int = 16384, cols: int = 32768, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-2, 2) and [-1, 1)
        return [torch.rand(rows) * 4 - 2, torch.rand(rows, cols) * 2 - 1]
    diagonal, matrix = torch.randn(rows), torch.randn(rows, cols)
    if family == "wide":
        diagonal = diagonal * 10 ** (torch.rand(rows) * 4 - 2)
    if family == "zeros":  # a singular diagonal matrix: a third of the rows vanish
        diagonal = diagonal * (torch.rand(rows) < 0.67)
    return [diagonal, matrix]


def get_init_inputs(*, rows: int = 16384, cols: int = 32768) -> list:
    return []
