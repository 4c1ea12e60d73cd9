"""max(|a - p| - |a - n| + margin, 0) of every row. Unlike the public problem 99, where distances in 8192 dimensions
are alike and the mean of all rows is the margin, the distances differ from row to row, some triplets are solved and
each row has its own loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 131072, "features": 2048, "margin": 1.0},
    "medium": {"rows": 32768, "features": 2048, "margin": 1.0},
    "small": {"rows": 1280, "features": 768, "margin": 1.0},
    "odd": {"rows": 1277, "features": 761, "margin": 0.5},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """anchor, positive, negative (rows, features) -> losses (rows,)."""

    def __init__(self, margin: float):
        super().__init__()
        self.margin = margin

    def forward(self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, reduction="none")


def get_inputs(
    *, rows: int = 131072, features: int = 2048, margin: float = 1.0, family: str = "default"
) -> list[torch.Tensor]:
    anchor, to_positive, to_negative = (torch.randn(rows, features) * features**-0.5 for _ in range(3))
    if family == "signed":  # three vectors of length 1 that have nothing to do with one another
        return [anchor, to_positive, to_negative]
    near, far = torch.rand(rows, 1) * 1.5 + 0.3, torch.rand(rows, 1) * 2 + 0.5
    if family == "wide":  # from far inside the margin to far beyond it
        near, far = 10 ** (near - 1), 10 ** (far - 1)
    if family == "large_mean":  # a common offset, which the differences take out
        anchor = anchor + 3
    return [anchor, anchor + near * to_positive, anchor + far * to_negative]


def get_init_inputs(*, rows: int = 131072, features: int = 2048, margin: float = 1.0) -> list:
    return [margin]
