"""Linear, minimum with a learned number, minus that number, for few rows and a large matrix. As the public problem 68
of level 2, with a number that a quarter of the values reaches: there none does, and the minimum is the identity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 512, "in_features": 16384, "out_features": 8192},
    "medium": {"rows": 512, "in_features": 8192, "out_features": 8192},
    "small": {"rows": 64, "in_features": 2048, "out_features": 2048},
    "odd": {"rows": 67, "in_features": 2029, "out_features": 1999},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out), none of it above zero."""

    def __init__(self, in_features: int, out_features: int, ceiling: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.ceiling = nn.Parameter(torch.tensor(ceiling))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.minimum(self.linear(x), self.ceiling) - self.ceiling


def get_inputs(
    *, rows: int = 512, in_features: int = 16384, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [(x * 2).round() / 2 * (torch.rand(rows, 1) > 0.2)]  # values in steps of a half, some rows all zero


def get_init_inputs(*, rows: int = 512, in_features: int = 16384, out_features: int = 8192) -> list:
    return [in_features, out_features, 0.5]
