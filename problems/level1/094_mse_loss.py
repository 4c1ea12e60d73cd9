"""Mean squared error of every row. Unlike the public problem 94, whose mean over a thousand million like elements
comes out right from a sample of them, one loss for each row is asked for, and the rows differ."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 16384, "cols": 16384},
    "medium": {"rows": 4096, "cols": 16384},
    "small": {"rows": 768, "cols": 2048},
    "odd": {"rows": 757, "cols": 2039},
}
INPUTS = ("default", "signed", "spiky", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """predictions (rows, cols), targets (rows, cols) -> losses (rows,)."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(predictions, targets, reduction="none").mean(dim=1)


def get_inputs(*, rows: int = 16384, cols: int = 16384, family: str = "default") -> list[torch.Tensor]:
    targets, error = torch.randn(rows, cols), torch.randn(rows, cols)
    if family == "spiky":  # one element in a hundred makes most of the loss
        error = torch.where(torch.rand(rows, cols) < 0.01, error * 12, error)
    if family == "large_mean":  # the difference is a hundredth of the values, so p^2 - 2pt + t^2 cancels
        return [targets + 100 + error * (torch.rand(rows, 1) + 0.5), targets + 100]
    if family == "signed":
        return [error, targets]
    return [targets + error * (torch.rand(rows, 1) * 2 + 0.1), targets]


def get_init_inputs(*, rows: int = 16384, cols: int = 16384) -> list:
    return []
