"""Smooth L1 loss, quadratic up to beta and linear beyond, averaged down each column: one loss for each target
variable. Unlike the public problem 96 the errors reach well beyond beta, so the linear branch counts, and one mean
does not hide skipped elements."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 16384, "cols": 16384, "beta": 1.0},
    "medium": {"rows": 4096, "cols": 16384, "beta": 1.0},
    "small": {"rows": 1024, "cols": 1280, "beta": 1.0},
    "odd": {"rows": 1021, "cols": 1283, "beta": 0.6},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """predictions (rows, cols), targets (rows, cols) -> losses (cols,)."""

    def __init__(self, beta: float):
        super().__init__()
        self.beta = beta

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.smooth_l1_loss(predictions, targets, reduction="none", beta=self.beta).mean(dim=0)


def get_inputs(
    *, rows: int = 16384, cols: int = 16384, beta: float = 1.0, family: str = "default"
) -> list[torch.Tensor]:
    targets, error = torch.randn(rows, cols), torch.randn(rows, cols)
    if family == "signed":
        return [error, targets]
    if family == "wide":  # variables that are all but learnt beside variables that are far off
        return [targets + error * 10 ** (torch.rand(cols) * 2 - 1.5), targets]
    if family == "spiky":  # a few outliers carry the loss, as Huber meant
        return [targets + torch.where(torch.rand(rows, cols) < 0.01, error * 50, error * 0.5), targets]
    return [targets + error * (torch.rand(cols) * 3 + 0.1), targets]


def get_init_inputs(*, rows: int = 16384, cols: int = 16384, beta: float = 1.0) -> list:
    return [beta]
