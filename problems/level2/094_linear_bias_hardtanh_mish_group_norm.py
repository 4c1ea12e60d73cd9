"""Linear, a bias for each feature, clamp to [-1, 1], mish, group norm. As the public problem 94 of level 2, without
the linear layer's own bias (the added one is enough) and with a group norm whose weight and bias are not the
identity."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192, "groups": 256},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192, "groups": 256},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024, "groups": 64},
    "odd": {"rows": 1031, "in_features": 83, "out_features": 988, "groups": 52},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); groups divides out."""

    def __init__(self, in_features: int, out_features: int, groups: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(out_features) * 0.5)
        self.norm = nn.GroupNorm(groups, out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.mish(F.hardtanh(self.linear(x) + self.bias)))


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 256, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # groups from unclamped to entirely at the limits
        return [x * 10 ** (torch.rand(rows, 1) * 2 - 1)]
    return [x * 3 * (torch.rand(shape) < 0.1)]  # one value in ten is not zero


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192, groups: int = 256) -> list:
    return [in_features, out_features, groups]
