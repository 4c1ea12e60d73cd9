"""Sums over all earlier steps, the step itself left out, along the middle axis: the state before each token. Unlike
the public problem 92 the scanned axis is strided, the values are signed and each step's own value is not small beside
the sum."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "steps": 4096, "channels": 2048},
    "medium": {"batch": 16, "steps": 4096, "channels": 2048},
    "small": {"batch": 4, "steps": 512, "channels": 640},
    "odd": {"batch": 3, "steps": 521, "channels": 787},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval"}


class Model(nn.Module):
    """(batch, steps, channels) -> (batch, steps, channels); the first step is zero."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.pad(torch.cumsum(x[:, :-1], dim=1), (0, 0, 1, 0))


def get_inputs(
    *, batch: int = 64, steps: int = 4096, channels: int = 2048, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, steps, channels)
    x = torch.randn(shape)
    if family == "default":  # a step tends to undo the one before, so the sums stay of the size of a step
        return [x - torch.cat([torch.zeros(batch, 1, channels), 0.98 * x[:, :-1]], dim=1)]
    if family == "wide":  # channels of unlike magnitude
        return [x * 10 ** (torch.rand(channels) * 2 - 1)]
    if family == "sparse":  # stairs
        return [x * (torch.rand(shape) < 0.05)]
    return [x]


def get_init_inputs(*, batch: int = 64, steps: int = 4096, channels: int = 2048) -> list:
    return []
