"""The last axis of a 4D tensor contracted with a matrix, written as an einsum. As the public problem 11 with half the
batch and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "height": 256, "width": 512, "inner": 256, "cols": 768},
    "medium": {"batch": 1, "height": 256, "width": 512, "inner": 256, "cols": 768},
    "small": {"batch": 2, "height": 24, "width": 40, "inner": 256, "cols": 384},
    "odd": {"batch": 3, "height": 17, "width": 37, "inner": 257, "cols": 379},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (batch, height, width, inner), w (inner, cols) -> (batch, height, width, cols)."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bhwl,lk->bhwk", x, w)


def get_inputs(
    *, batch: int = 4, height: int = 256, width: int = 512, inner: int = 256, cols: int = 768, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, height, width, inner)
    w = torch.randn(inner, cols)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1, w]
    x = torch.randn(shape)
    if family == "wide":  # places of unlike magnitude
        x = x * 10 ** (torch.rand(batch, height, width, 1) * 2 - 1)
    return [x, w]


def get_init_inputs(*, batch: int = 4, height: int = 256, width: int = 512, inner: int = 256, cols: int = 768) -> list:
    return []
