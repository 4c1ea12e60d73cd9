"""The product of the lower triangles of two square matrices. Unlike the public problem 15, which mirrors its problem
14, the other triangle of each operand is not zero but, as in BLAS, not to be used."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"size": 8192},
    "medium": {"size": 4096},
    "small": {"size": 608},
    "odd": {"size": 487},
}
INPUTS = ("default", "signed", "spiky")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """tril of (n, n) @ tril of (n, n) -> (n, n) lower triangular."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(torch.tril(a), torch.tril(b))


def _square(size: int, family: str) -> torch.Tensor:
    if family == "default":  # uniform on [-1, 1)
        return torch.rand(size, size) * 2 - 1
    x = torch.randn(size, size)
    # spiky: the triangle that is not used is a thousand times larger, so a single element of it is seen
    return torch.tril(x) + 1000 * torch.triu(x, 1) if family == "spiky" else x


def get_inputs(*, size: int = 8192, family: str = "default") -> list[torch.Tensor]:
    return [_square(size, family), _square(size, family)]


def get_init_inputs(*, size: int = 8192) -> list:
    return []
