"""Linear, swish, halved, clamp, tanh, clamp. In the public problem 81 of level 2 the second clamp is to [-1, 1],
where tanh always is; here the first clamp cuts from above and the second from below."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 16384, "in_features": 1024, "out_features": 8192},
    "medium": {"rows": 4096, "in_features": 1024, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1013, "in_features": 89, "out_features": 997},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out) in [floor, tanh(ceiling)]."""

    def __init__(self, in_features: int, out_features: int, ceiling: float, floor: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.ceiling = ceiling
        self.floor = floor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.clamp(F.silu(self.linear(x)) / 2, -1.0, self.ceiling)
        return torch.clamp(torch.tanh(y), self.floor, 1.0)


def get_inputs(
    *, rows: int = 16384, in_features: int = 1024, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-4, 4)
        return [torch.rand(shape) * 8 - 4]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.where(torch.rand(shape) < 0.02, 10 * x, x * 0.5)]  # one value in fifty is ten times as large


def get_init_inputs(*, rows: int = 16384, in_features: int = 1024, out_features: int = 8192) -> list:
    return [in_features, out_features, 0.8, -0.12]
