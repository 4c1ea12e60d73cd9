"""Every row divided by its Euclidean length, as embeddings are before a cosine similarity. Unlike the public problem
39 the rows are as long as embeddings are (over 65535 columns every element is about 0.004) and differ in length."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 524288, "cols": 1024},
    "medium": {"rows": 131072, "cols": 1024},
    "small": {"rows": 1536, "cols": 1024},
    "odd": {"rows": 1511, "cols": 1019},
}
INPUTS = ("default", "signed", "wide", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, cols) -> (rows, cols), rows of length 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)


def get_inputs(*, rows: int = 524288, cols: int = 1024, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(rows, cols)
    if family == "signed":
        return [x]
    if family == "wide":  # rows over ten decades: the squares of the least are below 1e-10
        return [x * 10 ** (torch.rand(rows, 1) * 10 - 5)]
    if family == "spiky":  # a few outlying features make most of the length
        return [torch.where(torch.rand(cols) < 0.01, x * 30, x)]
    return [x * (torch.rand(rows, 1) * 5 + 0.1) + torch.randn(cols)]


def get_init_inputs(*, rows: int = 524288, cols: int = 1024) -> list:
    return []
