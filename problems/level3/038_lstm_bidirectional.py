"""Bidirectional LSTM and a linear head at every step; hidden and cell states come in and go out. As the public problem 38
of level 3 with fewer layers; the final states, which its problems 36 and 37 return, are outputs beside the head's."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 256, "steps": 128, "in_features": 128, "hidden": 256, "classes": 64},
    "medium": {"batch": 128, "steps": 64, "in_features": 128, "hidden": 256, "classes": 64},
    "small": {"batch": 8, "steps": 32, "in_features": 48, "hidden": 64, "classes": 16},
    "odd": {"batch": 7, "steps": 37, "in_features": 41, "hidden": 67, "classes": 13},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
LAYERS = 2


class Model(nn.Module):
    """x (batch, steps, in), h and c (2 * layers, batch, hidden) -> (batch, steps, classes), h, c."""

    def __init__(self, in_features: int, hidden: int, layers: int, classes: int):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, classes)
        nn.init.normal_(self.head.weight, std=(2 * hidden) ** -0.5)
        for name, value in self.lstm.named_parameters():
            if name.startswith("weight"):
                nn.init.normal_(value, std=1.2 * value.shape[1] ** -0.5)
            else:
                nn.init.normal_(value, std=0.3)

    def forward(
        self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        states, (h, c) = self.lstm(x, (h, c))
        return self.head(states), h, c


def get_inputs(
    *,
    batch: int = 256,
    steps: int = 128,
    in_features: int = 128,
    hidden: int = 256,
    classes: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    h = torch.tanh(torch.randn(2 * LAYERS, batch, hidden))
    c = torch.randn(2 * LAYERS, batch, hidden)
    x = torch.randn(batch, steps, in_features)
    if family == "sparse":  # something happens in one step of eight; between, the gates alone decide
        return [x * (torch.rand(batch, steps, 1) < 0.125), h, c]
    if family == "wide":  # faint and loud sequences: the loud ones saturate the gates
        return [x * 10 ** (torch.rand(batch, 1, 1) * 3 - 2), h, c]
    return [x, h, c]


def get_init_inputs(
    *, batch: int = 256, steps: int = 128, in_features: int = 128, hidden: int = 256, classes: int = 64
) -> list:
    return [in_features, hidden, LAYERS, classes]
