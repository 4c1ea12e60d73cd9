"""linear(x) * scale + x, for a square matrix. The public problem 40 of level 2 adds the product to half of itself,
which is one multiplication; here the residual is the input."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "features": 2048},
    "medium": {"rows": 8192, "features": 2048},
    "small": {"rows": 768, "features": 512},
    "odd": {"rows": 769, "features": 509},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, features) -> (rows, features)."""

    def __init__(self, features: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(features, features)
        nn.init.normal_(self.linear.weight, std=1.5 * features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.scale + x


def get_inputs(*, rows: int = 32768, features: int = 2048, family: str = "default") -> list[torch.Tensor]:
    shape = (rows, features)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.rand(rows, 1) > 0.33)]  # a third of the rows is padding: only the bias speaks


def get_init_inputs(*, rows: int = 32768, features: int = 2048) -> list:
    return [features, 0.5]
