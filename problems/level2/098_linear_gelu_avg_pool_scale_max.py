"""Linear, exact GELU, average of every few neighbouring features, a scale of either sign for each average, maximum
over the row. In the public problem 98 of level 2 the average stands before GELU, so that averaging the weights
beforehand saves nearly the whole product."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192, "pool": 16},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192, "pool": 16},
    "small": {"rows": 2048, "in_features": 256, "out_features": 512, "pool": 8},
    "odd": {"rows": 2017, "in_features": 239, "out_features": 506, "pool": 11},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows,); pool divides out."""

    def __init__(self, in_features: int, out_features: int, pool: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.pool = pool
        self.scale = nn.Parameter(torch.randn(out_features // pool))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        averages = F.avg_pool1d(F.gelu(self.linear(x)).unsqueeze(1), self.pool).squeeze(1)
        return (averages * self.scale).amax(dim=1)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, pool: int = 16, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-3, 3)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 3)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint to loud
        return [x * 10 ** (torch.rand(rows, 1) * 4 - 2)]
    return [x * (torch.rand(rows, 1) > 0.33)]  # a third of the rows is padding: only the bias speaks


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192, pool: int = 16) -> list:
    return [in_features, out_features, pool]
