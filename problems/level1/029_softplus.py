"""log(1 + exp(x)), elementwise. Unlike the public problem 29 the values are signed and spread out; in one family all
are very negative, where the answer is exp(x) and 1 + exp(x) is 1 in fp32."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 4096, "cols": 131072},
    "medium": {"rows": 4096, "cols": 32768},
    "small": {"rows": 512, "cols": 3072},
    "odd": {"rows": 509, "cols": 2999},
}
INPUTS = ("default", "signed", "wide", "tiny")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols), positive."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softplus(x)


def get_inputs(*, rows: int = 4096, cols: int = 131072, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "wide":  # exp overflows on the right unless x is taken out first
        return [x * 10 ** (torch.rand(rows, cols) * 4 - 2)]
    if family == "tiny":
        return [x - 14]
    return [x if family == "signed" else x * 3]


def get_init_inputs(*, rows: int = 4096, cols: int = 131072) -> list:
    return []
