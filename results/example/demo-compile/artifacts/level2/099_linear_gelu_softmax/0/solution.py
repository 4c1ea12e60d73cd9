"""Linear, exact GELU, softmax at a low temperature. Unlike the public problem 99 of level 2 the values are spread out:
there all outputs of a row are within a few percent of 1 / 8192."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 64, "out_features": 1024},
    "odd": {"rows": 1019, "in_features": 71, "out_features": 983},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); every row sums to 1."""

    def __init__(self, in_features: int, out_features: int, sharpness: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.sharpness = sharpness

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(F.gelu(self.linear(x)) * self.sharpness, dim=-1)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, in_features) * 2 - 1]
    x = torch.randn(rows, in_features)
    if family == "wide":  # from nearly uniform rows to sharp ones
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [x]


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features, 4.0]
