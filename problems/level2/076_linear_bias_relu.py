"""Product with a weight matrix, a bias for each feature, ReLU. As the public problem 76 of level 2, with signed
values and an output four times as wide as the input, as a transformer's MLP begins."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "in_features": 2048, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 1024, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 192, "out_features": 768},
    "odd": {"rows": 521, "in_features": 191, "out_features": 773},
}
INPUTS = ("default", "signed", "wide", "zeros")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x) + self.bias)


def get_inputs(
    *, rows: int = 16384, in_features: int = 2048, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * (torch.rand(rows, 1) > 0.33)]  # a third of the rows is padding: only the bias speaks


def get_init_inputs(*, rows: int = 16384, in_features: int = 2048, out_features: int = 8192) -> list:
    return [in_features, out_features]
