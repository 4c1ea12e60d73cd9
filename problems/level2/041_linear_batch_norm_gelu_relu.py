"""Linear, batch norm in TRAIN mode, exact GELU, ReLU; the running statistics are part of the answer. As the public
problem 41 of level 2, without the linear layer's bias, which the statistics of the batch cancel, and with a norm that
is not the identity. After the ReLU nothing is left of GELU's negative side."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 16384, "in_features": 2048, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 1024, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 128, "out_features": 768},
    "odd": {"rows": 1033, "in_features": 113, "out_features": 787},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.gelu(self.norm(self.linear(x))))


def get_inputs(
    *, rows: int = 16384, in_features: int = 2048, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [x * 0.5 + 3]  # the features' means over the batch lie far above their spread


def get_init_inputs(*, rows: int = 16384, in_features: int = 2048, out_features: int = 4096) -> list:
    return [in_features, out_features]
