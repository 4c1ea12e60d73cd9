"""Vanilla RNN written out step by step: h = tanh(W [x, h] + b), an output at every step, the last state beside them. As
the public problem 34 of level 3, with recurrent weights at which the state neither dies out nor turns chaotic."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"steps": 64, "batch": 256, "in_features": 1024, "hidden": 2048, "out_features": 1024},
    "medium": {"steps": 64, "batch": 128, "in_features": 1024, "hidden": 1024, "out_features": 512},
    "small": {"steps": 32, "batch": 16, "in_features": 96, "hidden": 128, "out_features": 64},
    "odd": {"steps": 29, "batch": 17, "in_features": 89, "hidden": 127, "out_features": 61},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (steps, batch, in), h (batch, hidden) -> outputs (steps, batch, out) and the last h."""

    def __init__(self, in_features: int, hidden: int, out_features: int):
        super().__init__()
        self.step = nn.Linear(in_features + hidden, hidden)
        self.head = nn.Linear(hidden, out_features)
        nn.init.normal_(self.step.weight[:, :in_features], std=0.7 * in_features**-0.5)
        nn.init.normal_(self.step.weight[:, in_features:], std=0.9 * hidden**-0.5)
        nn.init.normal_(self.step.bias, std=0.2)
        nn.init.normal_(self.head.weight, std=hidden**-0.5)
        nn.init.normal_(self.head.bias, std=0.2)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = []
        for t in range(x.shape[0]):
            h = torch.tanh(self.step(torch.cat([x[t], h], dim=1)))
            outputs.append(self.head(h))
        return torch.stack(outputs), h


def get_inputs(
    *,
    steps: int = 64,
    batch: int = 256,
    in_features: int = 1024,
    hidden: int = 2048,
    out_features: int = 1024,
    family: str = "default",
) -> list[torch.Tensor]:
    h = torch.tanh(torch.randn(batch, hidden))
    x = torch.randn(steps, batch, in_features)
    if family == "sparse":  # something happens in one step of eight; between, the state runs on its own
        return [x * (torch.rand(steps, batch, 1) < 0.125), h]
    if family == "wide":  # faint and loud sequences: the loud ones saturate the tanh
        return [x * 10 ** (torch.rand(1, batch, 1) * 3 - 2), h]
    return [x, h]


def get_init_inputs(
    *, steps: int = 64, batch: int = 256, in_features: int = 1024, hidden: int = 2048, out_features: int = 1024
) -> list:
    return [in_features, hidden, out_features]
