"""Linear without a bias, times a second input that scales each row, batch norm in TRAIN mode: the statistics of the
batch are used and the running ones are part of the answer. In the public problem 39 of level 2, a copy of 33, the
scale belongs to a feature, and the statistics cancel it; a row's scale stays."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 1024, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 1024, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 256, "out_features": 1024},
    "odd": {"rows": 1031, "in_features": 251, "out_features": 971},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """x (rows, in), scale (rows, 1) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(x) * scale)


def get_inputs(
    *, rows: int = 32768, in_features: int = 1024, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    scale = torch.rand(rows, 1) + 0.5
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5, scale]
    x = torch.randn(shape)
    if family == "signed":
        return [x, scale]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5), scale]
    return [x * 0.5 + 3, scale]  # the features' means over the batch lie far above their spread


def get_init_inputs(*, rows: int = 32768, in_features: int = 1024, out_features: int = 4096) -> list:
    return [in_features, out_features]
