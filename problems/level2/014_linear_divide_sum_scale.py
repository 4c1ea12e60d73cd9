"""Linear without a bias, every value divided by one plus its own magnitude, sum over the features, scale. The public
problem 14 of level 2 divides by a constant; then sum and product change places and one matrix-vector product gives
the answer, which is not the chain that the problem means."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 4096},
    "small": {"rows": 2048, "in_features": 256, "out_features": 512},
    "odd": {"rows": 2039, "in_features": 251, "out_features": 499},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, 1)."""

    def __init__(self, in_features: int, hidden: int, scale: float):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden, in_features) * in_features**-0.5)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = x @ self.weight.T
        return (z / (1 + z.abs())).sum(dim=1, keepdim=True) * self.scale


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows from faint, where the division does little, to loud, where it saturates
        return [x * 10 ** (torch.rand(rows, 1) * 4 - 2)]
    return [x * 3 * (torch.rand(shape) < 0.1)]  # one value in ten is not zero


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features, 1.5]
