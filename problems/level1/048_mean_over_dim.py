"""Mean over the middle axis of a tensor whose last axis is narrow, as features averaged over time: unlike the public
problem 48, which has the shape of its problem 47, few columns lie side by side and the sums are long."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 512, "length": 32768, "cols": 63},
    "medium": {"batch": 128, "length": 32768, "cols": 63},
    "small": {"batch": 14, "length": 4096, "cols": 63},
    "odd": {"batch": 13, "length": 4099, "cols": 61},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, length, cols) -> (batch, cols) for dim 1."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mean(x, dim=self.dim)


def get_inputs(*, batch: int = 512, length: int = 32768, cols: int = 63, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, length, cols)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # some stretches of time are far louder than others
        return [x * 10 ** (torch.rand(batch, length, 1) * 3 - 1)]
    if family == "large_mean":  # a level for each feature
        return [x + 5 * torch.randn(batch, 1, cols)]
    return [x]


def get_init_inputs(*, batch: int = 512, length: int = 32768, cols: int = 63) -> list:
    return [1]
