"""A tensor divided by the root mean square of all its elements: a reduction over everything, then a pass over
everything. The public problem 37 divides by the Frobenius norm itself, which leaves elements of about 1e-5, so zeros
pass; here the scale of the input is drawn anew for every call, so the norm cannot be known beforehand."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "channels": 32, "side": 512},
    "medium": {"batch": 16, "channels": 32, "side": 512},
    "small": {"batch": 4, "channels": 16, "side": 156},
    "odd": {"batch": 3, "channels": 19, "side": 163},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> the same, of mean square 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.sqrt(torch.mean(x * x))


def get_inputs(*, batch: int = 64, channels: int = 32, side: int = 512, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    x = torch.randn(shape) * 10 ** (torch.rand(()) * 2 + 0.5)
    if family == "wide":  # every plane has its own magnitude
        return [x * 10 ** (torch.rand(batch, channels, 1, 1) * 2 - 1)]
    if family == "sparse":  # one element in a thousand makes most of the norm, so a lost one is seen
        return [torch.where(torch.rand(shape) < 0.001, x * 50, x)]
    if family == "default":  # planes of unlike magnitude and mean
        return [x * (torch.rand(batch, channels, 1, 1) + 0.5)]
    return [x]


def get_init_inputs(*, batch: int = 64, channels: int = 32, side: int = 512) -> list:
    return []
