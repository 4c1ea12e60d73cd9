"""z = linear(x), z * scale + z, clamp, the log of the mean of exp over the features, times its own mish. The public
problem 22 of level 2 clamps where nothing ever is, and its logsumexp of 8192 features is so far up that mish is the
identity; here one value in eight is clamped and the rows straddle zero."""

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

    def __init__(self, in_features: int, out_features: int, scale: float, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, mean=-0.6, std=0.5)
        self.scale = scale
        self.low = low
        self.high = high
        self.log_features = math.log(out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.linear(x)
        z = torch.clamp(z * self.scale + z, self.low, self.high)
        y = torch.logsumexp(z, dim=1, keepdim=True) - self.log_features
        return y * F.mish(y)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-2, 2)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 2)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to fully clamped
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [torch.where(torch.rand(shape) < 0.02, 10 * x, x * 0.5)]  # one value in fifty is ten times as large


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features, 1.5, -4.0, 2.5]
