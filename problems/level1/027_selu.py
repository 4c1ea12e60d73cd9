"""SELU, elementwise: scale * x right of zero, scale * alpha * (exp(x) - 1) left of it. Unlike the public problem 27
the values are signed: on uniform [0, 1) values it is a multiplication by 1.05."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 65536, "features": 8192},
    "medium": {"rows": 16384, "features": 8192},
    "small": {"rows": 1536, "features": 1024},
    "odd": {"rows": 1499, "features": 1021},
}
INPUTS = ("default", "signed", "wide", "near_zero")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, features) -> (rows, features)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.selu(x)


def get_inputs(*, rows: int = 65536, features: int = 8192, family: str = "default") -> list[torch.Tensor]:
    if family == "default":  # uniform on [-3, 1)
        return [torch.rand(rows, features) * 4 - 3]
    x = torch.randn(rows, features)
    if family == "wide":  # the left end is flat at -scale * alpha
        return [x * 10 ** (torch.rand(rows, features) * 3 - 2)]
    if family == "near_zero":  # exp(x) - 1 cancels, expm1(x) does not
        return [x * 1e-3]
    return [x]


def get_init_inputs(*, rows: int = 65536, features: int = 8192) -> list:
    return []
