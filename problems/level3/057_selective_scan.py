"""Mamba's selective scan: a diagonal linear recurrence whose step size, input and output vectors come with every step, a skip
and a SiLU gate. No public counterpart. The reference doubles the reach of the scan log2(steps) times and holds every state."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 4, "steps": 1024, "width": 1536, "state": 16},
    "medium": {"batch": 2, "steps": 1024, "width": 768, "state": 16},
    "small": {"batch": 2, "steps": 96, "width": 48, "state": 8},
    "odd": {"batch": 3, "steps": 89, "width": 41, "state": 7},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _scan(decay: torch.Tensor, gained: torch.Tensor) -> torch.Tensor:
    """h[t] = decay[t] * h[t - 1] + gained[t] along dim 1, from zero."""
    reach = 1
    while reach < decay.shape[1]:
        carried = gained[:, reach:] + decay[:, reach:] * gained[:, :-reach]
        gained = torch.cat([gained[:, :reach], carried], dim=1)
        decay = torch.cat([decay[:, :reach], decay[:, reach:] * decay[:, :-reach]], dim=1)
        reach *= 2
    return gained


class Model(nn.Module):
    """x, step and gate (batch, steps, width), b and c (batch, steps, state) -> (batch, steps, width)."""

    def __init__(self, width: int, state: int):
        super().__init__()
        self.log_rate = nn.Parameter(torch.empty(width, state).uniform_(-1.5, 2.0))
        self.step_bias = nn.Parameter(torch.empty(width).uniform_(-4.0, -0.5))
        self.skip = nn.Parameter(torch.empty(width).uniform_(0.5, 1.5))

    def forward(
        self, x: torch.Tensor, step: torch.Tensor, b: torch.Tensor, c: torch.Tensor, gate: torch.Tensor
    ) -> torch.Tensor:
        step = F.softplus(step + self.step_bias)
        decay = torch.exp(step[..., None] * -self.log_rate.exp())  # (batch, steps, width, state)
        states = _scan(decay, (step * x)[..., None] * b[:, :, None])
        y = (states * c[:, :, None]).sum(dim=-1) + x * self.skip
        return y * F.silu(gate)


def get_inputs(
    *, batch: int = 4, steps: int = 1024, width: int = 1536, state: int = 16, family: str = "default"
) -> list[torch.Tensor]:
    x, step, gate = torch.randn(3, batch, steps, width).unbind()
    b, c = torch.randn(2, batch, steps, state).unbind()
    if family == "sparse":  # something happens in one step of sixteen; between, the states decay
        x = 4 * x * (torch.rand(batch, steps, 1) < 1 / 16)
    if family == "wide":  # step sizes over three decades: some channels forget at once, some hardly move
        step = 3 * step
    return [2 * x, step, b, c, 2 * gate]


def get_init_inputs(*, batch: int = 4, steps: int = 1024, width: int = 1536, state: int = 16) -> list:
    return [width, state]
