"""Linear, the log of the mean of exp over the features, leaky ReLU twice, exact GELU twice. The logsumexp of the
public problem 64 of level 2 is above 9, where all four activations are the identity; here the mean instead of the sum
puts it around zero, and the rows differ in strength."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 4096},
    "small": {"rows": 2048, "in_features": 256, "out_features": 512},
    "odd": {"rows": 2039, "in_features": 251, "out_features": 499},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, 1)."""

    def __init__(self, in_features: int, out_features: int, slope: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, mean=-0.5, std=0.5)
        self.log_features = math.log(out_features)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.logsumexp(self.linear(x), dim=1, keepdim=True) - self.log_features
        y = F.leaky_relu(F.leaky_relu(y, self.slope), self.slope)
        return F.gelu(F.gelu(y))


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-3, 3)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 3)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to loud
        return [x * 10 ** (torch.rand(rows, 1) * 2.5 - 2)]
    # one value in fifty is ten times as large, so that one feature rules the sum
    return [torch.where(torch.rand(shape) < 0.02, 10 * x, x * 0.5)]


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features, 0.6]
