"""Linear, group norm, minimum over the features, then the outer sum of these minima and a bias: the answer has a
value for each row and each feature. As the public problem 75 of level 2, whose broadcast gives the same outer sum;
with a group norm that is not the identity and fewer features, so that the minima of the rows differ."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 65536, "in_features": 1024, "out_features": 2048, "groups": 128},
    "medium": {"rows": 16384, "in_features": 1024, "out_features": 2048, "groups": 128},
    "small": {"rows": 1024, "in_features": 96, "out_features": 960, "groups": 64},
    "odd": {"rows": 1021, "in_features": 103, "out_features": 943, "groups": 41},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (1, out, rows, 1); groups divides out."""

    def __init__(self, in_features: int, out_features: int, groups: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(1, out_features, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(x)).amin(dim=1, keepdim=True) + self.bias


def get_inputs(
    *, rows: int = 65536, in_features: int = 1024, out_features: int = 2048, groups: int = 128, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.3 + 3]  # the features share a mean far above their spread


def get_init_inputs(*, rows: int = 65536, in_features: int = 1024, out_features: int = 2048, groups: int = 128) -> list:
    return [in_features, out_features, groups]
