"""Linear, sigmoid, linear, logsumexp over the outputs. As the public problem 45 of level 2, with weights that keep
the signal's scale: there every row comes out within a thousandth of the same number."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 1024, "hidden": 2048, "out_features": 1024},
    "medium": {"rows": 8192, "in_features": 1024, "hidden": 2048, "out_features": 1024},
    "small": {"rows": 2048, "in_features": 256, "hidden": 256, "out_features": 128},
    "odd": {"rows": 2011, "in_features": 251, "hidden": 263, "out_features": 131},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows,)."""

    def __init__(self, in_features: int, hidden: int, out_features: int):
        super().__init__()
        self.up = nn.Linear(in_features, hidden)
        self.down = nn.Linear(hidden, out_features)
        nn.init.normal_(self.up.weight, std=3 * in_features**-0.5)
        nn.init.normal_(self.up.bias, std=0.5)
        nn.init.normal_(self.down.weight, std=12 * hidden**-0.5)
        nn.init.normal_(self.down.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(self.down(torch.sigmoid(self.up(x))), dim=1)


def get_inputs(
    *, rows: int = 32768, in_features: int = 1024, hidden: int = 2048, out_features: int = 1024, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    if family == "default":  # rows of unequal strength on [-2, 2)
        return [(torch.rand(shape) * 2 - 1) * (torch.rand(rows, 1) * 2)]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # rows whose sigmoids are all a half, to rows where they are switches
        return [x * 10 ** (torch.rand(rows, 1) * 3 - 2)]
    return [x * 3 * (torch.rand(shape) < 0.1)]  # one value in ten is not zero


def get_init_inputs(
    *, rows: int = 32768, in_features: int = 1024, hidden: int = 2048, out_features: int = 1024
) -> list:
    return [in_features, hidden, out_features]
