"""Linear, scale, clamp, exact GELU. As the public problem 53 of level 2, with a scale and limits at which the clamp
acts; there hardly any value reaches it."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 64, "out_features": 1024},
    "odd": {"rows": 1013, "in_features": 61, "out_features": 991},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int, scale: float, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(F.hardtanh(self.linear(x) * self.scale, self.low, self.high))


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, in_features) * 2 - 1]
    x = torch.randn(rows, in_features)
    return [x * 10 ** (torch.rand(rows, in_features) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features, 3.0, -1.5, 1.5]
