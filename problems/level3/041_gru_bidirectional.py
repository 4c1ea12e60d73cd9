"""A bidirectional GRU of one layer over padded sequences: each is read in its own length, forwards and backwards. As the
public problem 41 of level 3 with one wide layer, the final states of its problem 42, and lengths, which turn the reversal
into work of its own."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"steps": 32, "batch": 512, "in_features": 512, "hidden": 1024},
    "medium": {"steps": 32, "batch": 256, "in_features": 512, "hidden": 512},
    "small": {"steps": 12, "batch": 32, "in_features": 80, "hidden": 112},
    "odd": {"steps": 11, "batch": 29, "in_features": 73, "hidden": 109},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval"}


class Direction(nn.Module):
    """One GRU layer over x (steps, batch, in) from h (batch, hidden); a sequence stops at its length."""

    def __init__(self, in_features: int, hidden: int):
        super().__init__()
        self.of_input = nn.Linear(in_features, 3 * hidden)
        self.of_state = nn.Linear(hidden, 3 * hidden)
        for layer in (self.of_input, self.of_state):
            nn.init.normal_(layer.weight, std=1.2 * layer.in_features**-0.5)
            nn.init.normal_(layer.bias, std=0.3)

    def forward(self, x: torch.Tensor, h: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        projected = self.of_input(x)
        states = []
        for t in range(x.shape[0]):
            reset, update, new = projected[t].chunk(3, dim=-1)
            state_reset, state_update, state_new = self.of_state(h).chunk(3, dim=-1)
            new = torch.tanh(new + torch.sigmoid(reset + state_reset) * state_new)
            update = torch.sigmoid(update + state_update)
            running = (t < lengths)[:, None]
            h = torch.where(running, (1 - update) * new + update * h, h)
            states.append(torch.where(running, h, 0.0))
        return torch.stack(states), h


class Model(nn.Module):
    """x (steps, batch, in), h (2, batch, hidden), lengths (batch) int64 -> (steps, batch, 2 * hidden), (2, batch, hidden).

    1 <= length <= steps; states beyond a length are zero.
    """

    def __init__(self, in_features: int, hidden: int):
        super().__init__()
        self.forwards = Direction(in_features, hidden)
        self.backwards = Direction(in_features, hidden)

    def forward(self, x: torch.Tensor, h: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        steps = torch.arange(x.shape[0], device=x.device)[:, None]
        mirrored = torch.where(steps < lengths, lengths - 1 - steps, steps)[:, :, None]  # (steps, batch, 1)
        ahead, last_ahead = self.forwards(x, h[0], lengths)
        back, last_back = self.backwards(x.gather(0, mirrored.expand(-1, -1, x.shape[2])), h[1], lengths)
        back = back.gather(0, mirrored.expand(-1, -1, back.shape[2]))
        return torch.cat([ahead, back], dim=-1), torch.stack([last_ahead, last_back])


def get_inputs(
    *, steps: int = 32, batch: int = 512, in_features: int = 512, hidden: int = 1024, family: str = "default"
) -> list[torch.Tensor]:
    h = torch.tanh(torch.randn(2, batch, hidden))
    x = torch.randn(steps, batch, in_features)
    lengths = torch.randint(steps // 2, steps + 1, (batch,))
    if family == "ties":  # all of full length, each step twice
        return [x[: (steps + 1) // 2].repeat_interleave(2, dim=0)[:steps], h, torch.full_like(lengths, steps)]
    if family == "wide":  # faint and loud sequences: the loud ones saturate the gates
        return [x * 10 ** (torch.rand(1, batch, 1) * 3 - 2), h, lengths]
    return [x, h, lengths]


def get_init_inputs(*, steps: int = 32, batch: int = 512, in_features: int = 512, hidden: int = 1024) -> list:
    return [in_features, hidden]
