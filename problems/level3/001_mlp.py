"""Three linear layers with ReLU between them. Unlike the public problem 1 of level 3 the weights keep the signal's
scale (He initialisation), so that the output is not mostly the last bias."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 2048, "in_features": 4096, "hidden": 8192, "out_features": 4096},
    "medium": {"rows": 1024, "in_features": 4096, "hidden": 4096, "out_features": 4096},
    "small": {"rows": 128, "in_features": 256, "hidden": 512, "out_features": 256},
    "odd": {"rows": 127, "in_features": 251, "hidden": 509, "out_features": 241},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, hidden: int, out_features: int):
        super().__init__()
        self.up = nn.Linear(in_features, hidden)
        self.across = nn.Linear(hidden, hidden)
        self.down = nn.Linear(hidden, out_features)
        for layer in (self.up, self.across, self.down):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.up(x))
        x = torch.relu(self.across(x))
        return self.down(x)


def get_inputs(
    *,
    rows: int = 2048,
    in_features: int = 4096,
    hidden: int = 8192,
    out_features: int = 4096,
    family: str = "default",
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(rows, in_features) * 2 - 1]
    x = torch.randn(rows, in_features)
    return [x * 10 ** (torch.rand(rows, in_features) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 2048, in_features: int = 4096, hidden: int = 8192, out_features: int = 4096) -> list:
    return [in_features, hidden, out_features]
