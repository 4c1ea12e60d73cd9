"""Sum over the middle axis, which is kept with size 1. Unlike the public problem 47 the values are signed and the
tensor has half the bytes: the sum of 4096 uniform [0, 1) values is 2048 to within a percent."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "length": 4096, "cols": 4095},
    "medium": {"batch": 32, "length": 2048, "cols": 4095},
    "small": {"batch": 8, "length": 512, "cols": 895},
    "odd": {"batch": 7, "length": 521, "cols": 887},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, length, cols) -> (batch, 1, cols) for dim 1."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, dim=self.dim, keepdim=True)


def get_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, length, cols)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # a level for each column, which the sum multiplies by the length
        return [x + 5 * torch.randn(batch, 1, cols)]
    return [x]


def get_init_inputs(*, batch: int = 64, length: int = 4096, cols: int = 4095) -> list:
    return [1]
