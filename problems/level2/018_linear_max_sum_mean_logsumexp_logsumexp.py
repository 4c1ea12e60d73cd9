"""Linear, then five reductions, each over an axis of its own: maximum, sum, mean, logsumexp, logsumexp. In the public
problem 18 of level 2 the sum over all features comes first: it makes the linear layer a dot product and leaves axes
of length 1 to the other four. Here the maximum comes first and every reduction has something to reduce."""

import math

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "max_of": 8, "sum_of": 4, "mean_of": 4, "inner": 4, "outer": 8},
    "medium": {"rows": 8192, "in_features": 512, "max_of": 8, "sum_of": 4, "mean_of": 4, "inner": 4, "outer": 8},
    "small": {"rows": 2048, "in_features": 256, "max_of": 8, "sum_of": 4, "mean_of": 4, "inner": 4, "outer": 2},
    "odd": {"rows": 2029, "in_features": 241, "max_of": 5, "sum_of": 3, "mean_of": 2, "inner": 7, "outer": 3},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, 1); the linear layer has as many outputs as the five axes have elements together."""

    def __init__(self, in_features: int, axes: list[int]):
        super().__init__()
        self.axes = axes
        self.linear = nn.Linear(in_features, math.prod(axes))
        nn.init.normal_(self.linear.weight, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.linear(x).view(x.shape[0], *self.axes)
        z = z.amax(dim=-1).sum(dim=-1).mean(dim=-1)
        return torch.logsumexp(torch.logsumexp(z, dim=-1), dim=-1, keepdim=True)


def get_inputs(
    *,
    rows: int = 32768,
    in_features: int = 512,
    max_of: int = 8,
    sum_of: int = 4,
    mean_of: int = 4,
    inner: int = 4,
    outer: int = 8,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to loud
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [x + 4]  # the sums reach a hundred, where exp overflows unless the maximum is taken off first


def get_init_inputs(
    *,
    rows: int = 32768,
    in_features: int = 512,
    max_of: int = 8,
    sum_of: int = 4,
    mean_of: int = 4,
    inner: int = 4,
    outer: int = 8,
) -> list:
    return [in_features, [outer, inner, mean_of, sum_of, max_of]]
