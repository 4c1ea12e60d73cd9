"""Three GRU layers over time-major sequences; all steps of the last layer and the final state of every layer. As the
public problem 39 of level 3 with half its layers, and with the final states that its problem 40 returns."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"steps": 128, "batch": 256, "in_features": 128, "hidden": 512},
    "medium": {"steps": 64, "batch": 128, "in_features": 128, "hidden": 512},
    "small": {"steps": 32, "batch": 8, "in_features": 48, "hidden": 80},
    "odd": {"steps": 37, "batch": 7, "in_features": 43, "hidden": 79},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
LAYERS = 3


class Model(nn.Module):
    """x (steps, batch, in), h (layers, batch, hidden) -> (steps, batch, hidden), (layers, batch, hidden)."""

    def __init__(self, in_features: int, hidden: int, layers: int):
        super().__init__()
        self.gru = nn.GRU(in_features, hidden, layers)
        for name, value in self.gru.named_parameters():
            if name.startswith("weight"):
                nn.init.normal_(value, std=1.2 * value.shape[1] ** -0.5)
            else:
                nn.init.normal_(value, std=0.3)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.gru(x, h)


def get_inputs(
    *, steps: int = 128, batch: int = 256, in_features: int = 128, hidden: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    h = torch.tanh(torch.randn(LAYERS, batch, hidden))
    x = torch.randn(steps, batch, in_features)
    if family == "sparse":  # something happens in one step of eight; between, the state runs on its own
        return [x * (torch.rand(steps, batch, 1) < 0.125), h]
    if family == "wide":  # faint and loud sequences: the loud ones saturate the gates
        return [x * 10 ** (torch.rand(1, batch, 1) * 3 - 2), h]
    return [x, h]


def get_init_inputs(*, steps: int = 128, batch: int = 256, in_features: int = 128, hidden: int = 512) -> list:
    return [in_features, hidden, LAYERS]
