"""Linear, maximum of every two neighbouring features, sum over the pairs, scale. As the public problem 55 of level 2,
with rows of unequal strength, whose sums differ, and a product in which rows and weights weigh alike."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 2048, "in_features": 256, "out_features": 512},
    "odd": {"rows": 2027, "in_features": 257, "out_features": 514},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows,); the pool divides out."""

    def __init__(self, in_features: int, out_features: int, pool: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.pool = pool
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled = F.max_pool1d(self.linear(x).unsqueeze(1), self.pool).squeeze(1)
        return pooled.sum(dim=1) * self.scale


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-3, 3)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 3)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to loud
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [x * (torch.rand(rows, 1) > 0.33)]  # a third of the rows is padding: there only the biases speak


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features, 2, 0.5]
