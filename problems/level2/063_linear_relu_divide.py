"""Linear from many features to few, ReLU, division by a constant. As the public problem 63 of level 2, with signed
values and a bias that is not lost beside them."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "in_features": 8192, "out_features": 512},
    "medium": {"rows": 8192, "in_features": 4096, "out_features": 512},
    "small": {"rows": 1024, "in_features": 1536, "out_features": 128},
    "odd": {"rows": 641, "in_features": 1531, "out_features": 61},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int, divisor: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=2 * in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) / self.divisor


def get_inputs(
    *, rows: int = 16384, in_features: int = 8192, out_features: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, rows: int = 16384, in_features: int = 8192, out_features: int = 512) -> list:
    return [in_features, out_features, 2.0]
