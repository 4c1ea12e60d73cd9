"""Log-softmax over the last axis, of the length of a vocabulary. Unlike the public problem 24 the logits are spread
out: on 393216 uniform [0, 1) logits every output is x - 13.4, the same shift in every row."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 8192, "classes": 65536},
    "medium": {"rows": 2048, "classes": 65536},
    "small": {"rows": 192, "classes": 8192},
    "odd": {"rows": 193, "classes": 8179},
}
INPUTS = ("default", "signed", "wide", "large_mean", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """logits (rows, classes) -> (rows, classes); the exponentials of a row sum to 1."""

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(logits, dim=-1)


def get_inputs(*, rows: int = 8192, classes: int = 65536, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, classes)
    if family == "wide":  # from nearly uniform rows to nearly one-hot ones, where log(softmax) is -inf
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 1)]
    if family == "large_mean":  # rows far from zero on either side; their shift cancels
        return [x * 3 + 100 * torch.randn(rows, 1)]
    if family == "spiky":  # one class in a thousand takes the whole row
        return [x + 40 * (torch.rand(rows, classes) < 0.001)]
    return [x if family == "signed" else x * 3]


def get_init_inputs(*, rows: int = 8192, classes: int = 65536) -> list:
    return []
