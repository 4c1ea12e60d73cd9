"""Linear, swish, scale, for few rows and a matrix of a gigabyte, as when a large model decodes. As the public problem
59 of level 2, at a quarter of its matrix and with signed values."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 256, "in_features": 16384, "out_features": 16384},
    "medium": {"rows": 256, "in_features": 8192, "out_features": 16384},
    "small": {"rows": 64, "in_features": 2048, "out_features": 2048},
    "odd": {"rows": 61, "in_features": 2039, "out_features": 2017},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(self.linear(x)) * self.scale


def get_inputs(
    *, rows: int = 256, in_features: int = 16384, out_features: int = 16384, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-3, 3)
        return [torch.rand(shape) * 6 - 3]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    # outlier features, as a large model has: one in a hundred is twenty times as large
    return [x * torch.where(torch.rand(in_features) < 0.01, 20.0, 1.0)]


def get_init_inputs(*, rows: int = 256, in_features: int = 16384, out_features: int = 16384) -> list:
    return [in_features, out_features, 2.0]
