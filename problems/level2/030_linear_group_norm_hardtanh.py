"""Linear, group norm, clamp to [-1, 1]. As the public problem 30 of level 2, with a group norm whose weight and bias
are not the identity and limits that are reached by a third of the values."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192, "groups": 64},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192, "groups": 64},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024, "groups": 16},
    "odd": {"rows": 1009, "in_features": 89, "out_features": 979, "groups": 11},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); groups divides out."""

    def __init__(self, in_features: int, out_features: int, groups: int, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(self.norm(self.linear(x)), self.low, self.high)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, in_features) * 2 - 1]
    x = torch.randn(rows, in_features)
    return [x * 10 ** (torch.rand(rows, in_features) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 64) -> list:
    return [in_features, out_features, groups, -1.0, 1.0]
