"""The product of two symmetric matrices (not itself symmetric), both stored in full; a kernel may read half of each.
As the public problem 13 with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"size": 8192},
    "medium": {"size": 4096},
    "small": {"size": 608},
    "odd": {"size": 499},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """(n, n) symmetric @ (n, n) symmetric -> (n, n)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def _symmetric(size: int, family: str) -> torch.Tensor:
    x = torch.rand(size, size) * 2 - 1 if family == "default" else torch.randn(size, size)
    if family == "wide":  # d_i x_ij d_j: rows and columns of unlike magnitude
        d = 10 ** (torch.rand(size) * 2 - 1)
        x = d[:, None] * x * d
    return torch.triu(x) + torch.triu(x, 1).T


def get_inputs(*, size: int = 8192, family: str = "default") -> list[torch.Tensor]:
    return [_symmetric(size, family), _symmetric(size, family)]


def get_init_inputs(*, size: int = 8192) -> list:
    return []
