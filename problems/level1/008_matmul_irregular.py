"""C = A @ B where no size is a multiple of a tile, so every edge is a tail. As the public problem 8 with signed
values; in one family the last row, inner index and column stand out, so a dropped tail is far off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 8205, "inner": 2949, "cols": 5921},
    "medium": {"rows": 4101, "inner": 1473, "cols": 5921},
    "small": {"rows": 411, "inner": 739, "cols": 593},
    "odd": {"rows": 389, "inner": 761, "cols": 577},
}
INPUTS = ("default", "signed", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, inner) @ (inner, cols) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def get_inputs(*, rows: int = 8205, inner: int = 2949, cols: int = 5921, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    a, b = torch.randn(rows, inner), torch.randn(inner, cols)
    if family == "spiky":  # the tails carry ten times the rest
        a[-1], a[:, -1], b[:, -1] = a[-1] * 10, a[:, -1] * 10, b[:, -1] * 10
    return [a, b]


def get_init_inputs(*, rows: int = 8205, inner: int = 2949, cols: int = 5921) -> list:
    return []
