"""Two LSTM layers and a linear head at every step; the initial state is an input. Unlike the public problem 35 of
level 3 nothing is drawn in forward, and every step counts, not only the last, which has forgotten the first ones."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "steps": 256, "in_features": 128, "hidden": 256, "classes": 64},
    "medium": {"batch": 32, "steps": 128, "in_features": 128, "hidden": 256, "classes": 64},
    "small": {"batch": 8, "steps": 32, "in_features": 32, "hidden": 64, "classes": 16},
    "odd": {"batch": 7, "steps": 31, "in_features": 29, "hidden": 61, "classes": 17},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
LAYERS = 2


class Model(nn.Module):
    """x (batch, steps, in), h and c (layers, batch, hidden) -> (batch, steps, classes)."""

    def __init__(self, in_features: int, hidden: int, layers: int, classes: int):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, classes)
        nn.init.normal_(self.head.weight, std=hidden**-0.5)
        for name, value in self.lstm.named_parameters():
            if name.startswith("weight"):
                nn.init.normal_(value, std=value.shape[1] ** -0.5)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(x, (h, c))
        return self.head(states)


def get_inputs(
    *,
    batch: int = 64,
    steps: int = 256,
    in_features: int = 128,
    hidden: int = 256,
    classes: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    h = torch.tanh(torch.randn(LAYERS, batch, hidden))
    c = torch.randn(LAYERS, batch, hidden)
    shape = (batch, steps, in_features)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2, h, c]
    x = torch.randn(shape)
    return [x * 10 ** (torch.rand(shape) * 4 - 3) if family == "wide" else x, h, c]


def get_init_inputs(
    *, batch: int = 64, steps: int = 256, in_features: int = 128, hidden: int = 256, classes: int = 64
) -> list:
    return [in_features, hidden, LAYERS, classes]
