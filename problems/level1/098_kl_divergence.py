"""Kullback-Leibler divergence of every row, between two distributions given as probabilities. Unlike the public
problem 98, whose rows are nearly uniform and averaged to one small number, the rows are uneven and each has its own
result."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 16384, "classes": 16384},
    "medium": {"rows": 4096, "classes": 16384},
    "small": {"rows": 512, "classes": 1024},
    "odd": {"rows": 503, "classes": 1021},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """predictions, targets (rows, classes), rows of sum 1 -> divergences (rows,)."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.kl_div(torch.log(predictions), targets, reduction="none").sum(dim=-1)


def get_inputs(*, rows: int = 16384, classes: int = 16384, family: str = "default") -> list[torch.Tensor]:
    predicted, wanted = torch.randn(rows, classes), torch.randn(rows, classes)
    if family == "sparse":  # most targets are exactly zero, where 0 log 0 counts as 0
        kept = torch.relu(wanted - 1.5) + 1e-3 * (torch.rand(rows, classes) < 0.01)
        return [torch.softmax(predicted, dim=-1), kept / kept.sum(dim=-1, keepdim=True)]
    if family == "wide":  # from nearly uniform rows to rows of few classes
        sharpness = 10 ** (torch.rand(rows, 1) * 1.2 - 0.6)
        return [torch.softmax(predicted * sharpness, dim=-1), torch.softmax(wanted * sharpness, dim=-1)]
    scale = 1 if family == "signed" else torch.rand(rows, 1) * 1.5 + 1
    return [torch.softmax(predicted * scale, dim=-1), torch.softmax(wanted * scale, dim=-1)]


def get_init_inputs(*, rows: int = 16384, classes: int = 16384) -> list:
    return []
