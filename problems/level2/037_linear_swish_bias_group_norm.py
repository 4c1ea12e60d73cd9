"""Linear, swish, a bias for each feature, group norm. As the public problem 37 of level 2, with a group norm whose
weight and bias are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 1024, "out_features": 4096, "groups": 64},
    "medium": {"rows": 8192, "in_features": 1024, "out_features": 4096, "groups": 64},
    "small": {"rows": 1024, "in_features": 64, "out_features": 1024, "groups": 32},
    "odd": {"rows": 1021, "in_features": 67, "out_features": 949, "groups": 13},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); groups divides out."""

    def __init__(self, in_features: int, out_features: int, groups: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(out_features))
        self.norm = nn.GroupNorm(groups, out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.silu(self.linear(x)) + self.bias)


def get_inputs(
    *, rows: int = 32768, in_features: int = 1024, out_features: int = 4096, groups: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(rows, in_features) * 4 - 2]
    x = torch.randn(rows, in_features)
    return [x * 10 ** (torch.rand(rows, in_features) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 32768, in_features: int = 1024, out_features: int = 4096, groups: int = 64) -> list:
    return [in_features, out_features, groups]
