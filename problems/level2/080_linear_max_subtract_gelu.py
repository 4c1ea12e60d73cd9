"""Linear, maximum over the features of each group, minus the mean of the row's maxima, exact GELU. In the public
problem 80 of level 2 the maximum is over the whole row and the mean over that one number, so that every answer is
gelu(0) = 0."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "groups": 1024, "group": 8},
    "medium": {"rows": 8192, "in_features": 512, "groups": 1024, "group": 8},
    "small": {"rows": 1024, "in_features": 96, "groups": 128, "group": 8},
    "odd": {"rows": 1013, "in_features": 101, "groups": 139, "group": 7},
}
INPUTS = ("default", "signed", "wide", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, groups)."""

    def __init__(self, in_features: int, groups: int, group: int):
        super().__init__()
        self.shape = (groups, group)
        self.linear = nn.Linear(in_features, groups * group)
        nn.init.normal_(self.linear.weight, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.linear(x).view(x.shape[0], *self.shape).amax(dim=2)
        return F.gelu(z - z.mean(dim=1, keepdim=True))


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, groups: int = 1024, group: int = 8, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [(x * 2).round() / 2 * (torch.rand(rows, 1) > 0.2)]  # values in steps of a half, some rows all zero


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, groups: int = 1024, group: int = 8) -> list:
    return [in_features, groups, group]
