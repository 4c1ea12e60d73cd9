"""C = A @ B^T with B stored one row for each output, as a linear layer stores its weight. As the public problem 17
with signed values and twice the rows of B; in one family a few input features are outliers."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 2048, "inner": 8192, "cols": 8192},
    "medium": {"rows": 2048, "inner": 4096, "cols": 4096},
    "small": {"rows": 448, "inner": 1024, "cols": 480},
    "odd": {"rows": 439, "inner": 1019, "cols": 461},
}
INPUTS = ("default", "signed", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """a (rows, inner), b (cols, inner) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b.T)


def get_inputs(*, rows: int = 2048, inner: int = 8192, cols: int = 8192, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, inner) * 2 - 1, torch.rand(cols, inner) * 2 - 1]
    a, b = torch.randn(rows, inner), torch.randn(cols, inner)
    if family == "spiky":  # one feature in 64 is 30 times the others
        a = torch.where(torch.rand(inner) < 1 / 64, a * 30, a)
    return [a, b]


def get_init_inputs(*, rows: int = 2048, inner: int = 8192, cols: int = 8192) -> list:
    return []
