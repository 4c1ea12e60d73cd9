"""Linear, batch norm in TRAIN mode, a learned number added, division, swish; the running statistics are part of the
answer. As the public problem 97 of level 2, without the linear layer's bias, which the statistics of the batch
cancel, and with a divisor that is not one."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1019, "in_features": 97, "out_features": 1019},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int, bias: float, divisor: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.bias = nn.Parameter(torch.tensor([bias]))
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu((self.norm(self.linear(x)) + self.bias) / self.divisor)


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 4096, family: str = "default"
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


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features, 0.4, 0.6]
