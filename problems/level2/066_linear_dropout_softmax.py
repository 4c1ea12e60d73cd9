"""Linear, dropout, softmax over the features; which values are dropped is an input, True where one is kept. In the
public problem 66 of level 2 the mask is drawn in forward, so that no two runs agree, and every output is about 1 /
16384; here the logits are spread out."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 8192, "in_features": 1024, "out_features": 8192},
    "medium": {"rows": 4096, "in_features": 1024, "out_features": 8192},
    "small": {"rows": 512, "in_features": 192, "out_features": 1024},
    "odd": {"rows": 509, "in_features": 181, "out_features": 1021},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
KEEP_SHARE = 0.8


class Model(nn.Module):
    """x (rows, in), keep (rows, out) bool -> (rows, out); every row sums to 1, and dropped logits are zero."""

    def __init__(self, in_features: int, out_features: int, keep_share: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, std=2 * in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.keep_share = keep_share

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        logits = self.linear(x) * keep / self.keep_share
        return torch.softmax(logits, dim=1)


def get_inputs(
    *, rows: int = 8192, in_features: int = 1024, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    keep = torch.rand(rows, out_features) < KEEP_SHARE
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5, keep]
    x = torch.randn(shape)
    if family == "signed":
        return [x, keep]
    if family == "wide":  # from nearly uniform rows to nearly one-hot ones
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2), keep]
    return [torch.where(torch.rand(shape) < 0.02, 10 * x, x * 0.5), keep]  # one value in fifty is ten times as large


def get_init_inputs(*, rows: int = 8192, in_features: int = 1024, out_features: int = 8192) -> list:
    return [in_features, out_features, KEEP_SHARE]
