"""C = A @ B for square matrices. Unlike the public problem 1 the values are signed: with uniform [0, 1) values
every element of the product lies close to n / 4."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"size": 8192},
    "medium": {"size": 4096},
    "small": {"size": 576},
    "odd": {"size": 397},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(n, n) @ (n, n) -> (n, n)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def _values(shape: tuple[int, ...], family: str) -> torch.Tensor:
    if family == "default":  # uniform on [-1, 1)
        return torch.rand(shape) * 2 - 1
    x = torch.randn(shape)
    return x * 10 ** (torch.rand(shape) * 6 - 3) if family == "wide" else x


def get_inputs(*, size: int = 8192, family: str = "default") -> list[torch.Tensor]:
    return [_values((size, size), family), _values((size, size), family)]


def get_init_inputs(*, size: int = 8192) -> list:
    return []
