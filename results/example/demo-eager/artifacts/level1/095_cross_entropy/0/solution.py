"""Cross entropy of every row against an int64 class index. Unlike the public problem 95 the losses are not averaged:
the mean of many like rows is nearly a constant and hides skipped rows."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 65536, "classes": 8192},
    "medium": {"rows": 32768, "classes": 4096},
    "small": {"rows": 1024, "classes": 1536},
    "odd": {"rows": 1013, "classes": 1499},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """logits (rows, classes), labels (rows,) int64 -> losses (rows,)."""

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, labels, reduction="none")


def get_inputs(*, rows: int = 65536, classes: int = 8192, family: str = "default") -> list[torch.Tensor]:
    labels = torch.randint(0, classes, (rows,))
    logits = torch.randn(rows, classes)
    if family == "signed":
        return [logits, labels]
    if family == "wide":  # from nearly uniform rows to nearly one-hot ones
        return [logits * 10 ** (torch.rand(rows, 1) * 4 - 2), labels]
    if family == "large_mean":  # exp overflows unless the row maximum is taken off first
        return [logits + 1000, labels]
    return [logits * 3, labels]


def get_init_inputs(*, rows: int = 65536, classes: int = 8192) -> list:
    return []
