"""A product of two matrices for every member of a batch. As the public problem 3 with signed values; in one family
the members differ in magnitude, so a member computed from another one's operand is far off."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 128, "rows": 512, "inner": 1024, "cols": 2048},
    "medium": {"batch": 32, "rows": 512, "inner": 1024, "cols": 2048},
    "small": {"batch": 16, "rows": 128, "inner": 192, "cols": 256},
    "odd": {"batch": 13, "rows": 127, "inner": 193, "cols": 251},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, rows, inner) @ (batch, inner, cols) -> (batch, rows, cols)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.bmm(a, b)


def get_inputs(
    *, batch: int = 128, rows: int = 512, inner: int = 1024, cols: int = 2048, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(batch, rows, inner) * 2 - 1, torch.rand(batch, inner, cols) * 2 - 1]
    a, b = torch.randn(batch, rows, inner), torch.randn(batch, inner, cols)
    if family == "wide":  # one magnitude for each member of the batch
        a = a * 10 ** (torch.rand(batch, 1, 1) * 2 - 1)
    return [a, b]


def get_init_inputs(*, batch: int = 128, rows: int = 512, inner: int = 1024, cols: int = 2048) -> list:
    return []
