"""Layer norm over the last axis with a weight and a bias. Unlike the public problem 40 the weight and the bias are
not the identity, so dropping them fails, and the normalised axis has the length that transformers use."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 65536, "features": 8192},
    "medium": {"rows": 16384, "features": 8192},
    "small": {"rows": 1280, "features": 1024},
    "odd": {"rows": 1009, "features": 1021},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, features) -> (rows, features)."""

    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs(*, rows: int = 65536, features: int = 8192, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [0, 1)
        return [torch.rand(rows, features)]
    x = torch.randn(rows, features)
    if family == "wide":
        return [x * 10 ** (torch.rand(rows, features) * 6 - 3)]
    if family == "large_mean":  # the mean squared is 10^4 times the variance
        return [x + 100]
    return [x]


def get_init_inputs(*, rows: int = 65536, features: int = 8192) -> list:
    return [features]
