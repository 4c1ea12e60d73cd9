"""Linear, a scale for each feature, batch norm with the running statistics. The public problem 33 of level 2
normalises with the statistics of the batch, which cancel scale and bias alike; in eval mode both count, and the
problem is how much of the chain folds into the product."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1013, "in_features": 89, "out_features": 997},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); running mean and variance are those that the scaled product about has."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.scale = nn.Parameter(torch.randn(out_features))
        self.norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        nn.init.normal_(self.norm.running_mean, std=0.3)
        nn.init.uniform_(self.norm.running_var, 0.2, 1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(x) * self.scale)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1)]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features]
