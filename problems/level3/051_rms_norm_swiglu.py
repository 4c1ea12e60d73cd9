"""RMS norm, SwiGLU MLP, residual: the feed-forward half of a Llama-like block. No public counterpart; all weights
matter and the MLP weighs as much as the residual stream."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"rows": 8192, "width": 2048, "hidden": 5632},
    "medium": {"rows": 4096, "width": 1024, "hidden": 2816},
    "small": {"rows": 256, "width": 192, "hidden": 512},
    "odd": {"rows": 251, "width": 181, "hidden": 499},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, width) -> (rows, width)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        for layer in (self.gate, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.5 * layer.in_features**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_inputs(
    *, rows: int = 8192, width: int = 2048, hidden: int = 5632, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(rows, width) * 3 - 1.5]
    x = torch.randn(rows, width)
    if family == "wide":  # rows of very unequal size
        return [x * 10 ** (torch.rand(rows, 1) * 4 - 3)]
    return [x]


def get_init_inputs(*, rows: int = 8192, width: int = 2048, hidden: int = 5632) -> list:
    return [width, hidden]
