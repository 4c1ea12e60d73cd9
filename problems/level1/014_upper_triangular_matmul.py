"""The product of two upper triangular matrices, which is upper triangular; a sixth of a full product is needed. As
the public problem 14 with signed values, and without its triu of the result, which changes nothing."""

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
    """(n, n) upper triangular @ (n, n) upper triangular -> (n, n) upper triangular."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


def _upper(size: int, family: str) -> torch.Tensor:
    x = torch.rand(size, size) * 2 - 1 if family == "default" else torch.randn(size, size)
    if family == "wide":  # rows of unlike magnitude
        x = x * 10 ** (torch.rand(size, 1) * 2 - 1)
    return torch.triu(x)


def get_inputs(*, size: int = 8192, family: str = "default") -> list[torch.Tensor]:
    return [_upper(size, family), _upper(size, family)]


def get_init_inputs(*, size: int = 8192) -> list:
    return []
