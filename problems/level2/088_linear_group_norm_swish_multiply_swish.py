"""Linear, group norm, swish, times a learned vector of either sign, swish. As the public problem 88 of level 2, with
a group norm whose weight and bias are not the identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192, "groups": 256},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192, "groups": 256},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024, "groups": 32},
    "odd": {"rows": 1013, "in_features": 79, "out_features": 1001, "groups": 77},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); groups divides out."""

    def __init__(self, in_features: int, out_features: int, groups: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.multiplier = nn.Parameter(torch.randn(out_features) * 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(F.silu(self.norm(self.linear(x))) * self.multiplier)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 3]  # the features share a mean far above their spread


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 256) -> list:
    return [in_features, out_features, groups]
