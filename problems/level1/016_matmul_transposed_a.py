"""C = A^T @ B with A stored inner axis first, as in the gradient of a linear layer's weight. As the public problem 16
with signed values and twice the columns."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"inner": 8192, "rows": 2048, "cols": 8192},
    "medium": {"inner": 4096, "rows": 2048, "cols": 4096},
    "small": {"inner": 1024, "rows": 448, "cols": 480},
    "odd": {"inner": 1013, "rows": 443, "cols": 467},
}
INPUTS = ("default", "signed", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """a (inner, rows), b (inner, cols) -> (rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a.T, b)


def get_inputs(*, inner: int = 8192, rows: int = 2048, cols: int = 8192, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(inner, rows) * 2 - 1, torch.rand(inner, cols) * 2 - 1]
    a, b = torch.randn(inner, rows), torch.randn(inner, cols)
    if family == "sparse":  # the left factor as activations after a ReLU and a 90 % mask
        a = torch.relu(a) * (torch.rand(inner, rows) < 0.1)
    return [a, b]


def get_init_inputs(*, inner: int = 8192, rows: int = 2048, cols: int = 8192) -> list:
    return []
