"""Linear, minus a learned vector, logsumexp over the features of each group, mean over the groups, exact GELU, added
to every feature of the input. In the public problem 51 of level 2 the mean over all features comes first: it makes
the linear layer a dot product and logsumexp, over one number, the identity. Here the subtrahend centres the result,
so that GELU bends it."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 1024, "groups": 256, "group": 16},
    "medium": {"rows": 8192, "in_features": 1024, "groups": 256, "group": 16},
    "small": {"rows": 1024, "in_features": 256, "groups": 32, "group": 16},
    "odd": {"rows": 1021, "in_features": 241, "groups": 37, "group": 13},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, in)."""

    def __init__(self, in_features: int, groups: int, group: int):
        super().__init__()
        self.shape = (groups, group)
        self.linear = nn.Linear(in_features, groups * group)
        nn.init.normal_(self.linear.weight, std=2 * in_features**-0.5)
        nn.init.normal_(self.linear.bias)
        self.subtrahend = nn.Parameter(torch.randn(groups * group) * 0.3 + math.log(group) + 1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = (self.linear(x) - self.subtrahend).view(x.shape[0], *self.shape)
        return F.gelu(torch.logsumexp(z, dim=2).mean(dim=1, keepdim=True)) + x


def get_inputs(
    *, rows: int = 32768, in_features: int = 1024, groups: int = 256, group: int = 16, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-2, 2)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 2)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to loud
        return [x * 10 ** (torch.rand(rows, 1) * 2.5 - 2)]
    # one value in fifty is ten times as large, so that one feature of a group rules it
    return [torch.where(torch.rand(shape) < 0.02, 10 * x, x * 0.5)]


def get_init_inputs(*, rows: int = 32768, in_features: int = 1024, groups: int = 256, group: int = 16) -> list:
    return [in_features, groups, group]
