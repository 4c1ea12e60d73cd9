"""max(1 - label * score, 0) averaged down each column: the loss of many classifiers on one set of samples with labels
of -1 and 1. The public problem 100 gives the labels to the columns by a slip of broadcasting and averages all; here a
label belongs to a row, and every column has its own loss."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 16384, "classifiers": 32768},
    "medium": {"rows": 4096, "classifiers": 32768},
    "small": {"rows": 1024, "classifiers": 2048},
    "odd": {"rows": 1021, "classifiers": 2039},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """scores (rows, classifiers), labels (rows,) of -1.0 or 1.0 -> losses (classifiers,)."""

    def forward(self, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return torch.clamp(1 - scores * labels[:, None], min=0).mean(dim=0)


def get_inputs(*, rows: int = 16384, classifiers: int = 32768, family: str = "default") -> list[torch.Tensor]:
    labels = torch.where(torch.rand(rows) < 0.4, -1.0, 1.0)
    noise, skill = torch.randn(rows, classifiers), torch.rand(classifiers)
    if family == "signed":  # classifiers that know nothing
        return [noise, labels]
    if family == "wide":  # scores of unlike scale: some classifiers never reach the margin
        return [(noise + labels[:, None]) * 10 ** (skill * 3 - 1.5), labels]
    if family == "spiky":  # one score in a hundred is far off and makes most of the loss
        noise = torch.where(torch.rand(rows, classifiers) < 0.01, noise * 50, noise)
    return [noise + labels[:, None] * skill * 2, labels]


def get_init_inputs(*, rows: int = 16384, classifiers: int = 32768) -> list:
    return []
