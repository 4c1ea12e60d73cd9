"""Linear, batch norm in TRAIN mode, a learned scale, softmax over the features; the running statistics are part of
the answer. As the public problem 84 of level 2, without the linear layer's bias, which the statistics of the batch
cancel, and with a scale that spreads the logits out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "in_features": 1024, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1021, "in_features": 107, "out_features": 977},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out); every row sums to 1."""

    def __init__(self, in_features: int, out_features: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.scale = nn.Parameter(torch.tensor([scale]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.norm(self.linear(x)) * self.scale, dim=1)


def get_inputs(
    *, rows: int = 16384, in_features: int = 1024, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # from nearly uniform rows to nearly one-hot ones
        return [x * 10 ** (torch.rand(rows, 1) * 2 - 1)]
    return [x * 0.5 + 3]  # the features' means over the batch lie far above their spread


def get_init_inputs(*, rows: int = 16384, in_features: int = 1024, out_features: int = 8192) -> list:
    return [in_features, out_features, 2.5]
