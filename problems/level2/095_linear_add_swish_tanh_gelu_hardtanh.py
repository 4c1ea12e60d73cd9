"""Linear, a learned vector added, swish, tanh, exact GELU, clamp. In the public problem 95 of level 2 the clamp is to
[-1, 1], which GELU of a tanh never reaches; here its limits lie inside the range. The linear layer has no bias beside
the added vector."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 65536, "in_features": 256, "out_features": 4096},
    "medium": {"rows": 16384, "in_features": 256, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1013, "in_features": 89, "out_features": 997},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out) in [low, high]."""

    def __init__(self, in_features: int, out_features: int, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.added = nn.Parameter(torch.randn(out_features))
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(F.silu(self.linear(x) + self.added))
        return F.hardtanh(F.gelu(y), self.low, self.high)


def get_inputs(
    *, rows: int = 65536, in_features: int = 256, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-3, 3)
        return [torch.rand(shape) * 6 - 3]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 2 * (torch.rand(rows, 1) > 0.33)]  # a third of the rows is padding: only the added vector speaks


def get_init_inputs(*, rows: int = 65536, in_features: int = 256, out_features: int = 4096) -> list:
    return [in_features, out_features, -0.09, 0.6]
