"""Linear, sigmoid, sum over the features. In the public problem 56 of level 2 every sum lies within a percent of half
the feature count; here the rows have levels of their own and the weights a mean, so that a row's sigmoids move
together."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "in_features": 1024, "out_features": 8192},
    "medium": {"rows": 4096, "in_features": 1024, "out_features": 8192},
    "small": {"rows": 2048, "in_features": 256, "out_features": 512},
    "odd": {"rows": 2039, "in_features": 251, "out_features": 499},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, 1)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, mean=1 / in_features, std=2 * in_features**-0.5)
        nn.init.normal_(self.linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.linear(x)).sum(dim=1, keepdim=True)


def get_inputs(
    *, rows: int = 16384, in_features: int = 1024, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1, 1) around the level of the row
        return [torch.rand(shape) * 2 - 1 + torch.randn(rows, 1)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows whose sigmoids are all a half, to rows where they are switches
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [x + 3 * torch.randn(rows, 1) + 1]  # all rows up by the same, so that half of the sigmoids saturate


def get_init_inputs(*, rows: int = 16384, in_features: int = 1024, out_features: int = 8192) -> list:
    return [in_features, out_features]
