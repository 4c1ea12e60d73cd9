"""Mamba-2's state space duality in chunks: masked products inside a chunk, a state handed from chunk to chunk; y and the
final state. As the public problems 48 and 49 of level 3, with decays below one (there of both signs, so the state blows up) and
with step sizes, B, C and the first state as inputs, not weights of a batch's size."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "steps": 2048, "heads": 24, "head_width": 64, "state": 64, "chunk": 64},
    "medium": {"batch": 4, "steps": 2048, "heads": 24, "head_width": 64, "state": 64, "chunk": 64},
    "small": {"batch": 2, "steps": 256, "heads": 4, "head_width": 32, "state": 16, "chunk": 32},
    "odd": {"batch": 3, "steps": 217, "heads": 3, "head_width": 29, "state": 13, "chunk": 31},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (b, t, heads, width), step (b, t, heads), B and C (b, t, state), carried -> y as x, final state.

    carried and the final state are (b, heads, width, state). chunk divides t. B and C serve all heads.
    """

    def __init__(self, heads: int, chunk: int):
        super().__init__()
        self.chunk = chunk
        self.log_decay = nn.Parameter(torch.empty(heads).uniform_(-1.0, 1.5))
        self.step_bias = nn.Parameter(torch.empty(heads).uniform_(-4.0, -1.0))
        self.skip = nn.Parameter(torch.empty(heads).uniform_(0.5, 1.5))

    def forward(
        self, x: torch.Tensor, step: torch.Tensor, b: torch.Tensor, c: torch.Tensor, carried: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        step = F.softplus(step + self.step_bias)
        decay = (
            (-self.log_decay.exp() * step).unflatten(1, (-1, self.chunk)).permute(0, 1, 3, 2)
        )  # (b, chunks, heads, l)
        values = (x * step[..., None]).unflatten(1, (-1, self.chunk)).transpose(2, 3)  # (b, chunks, heads, l, width)
        b = b.unflatten(1, (-1, self.chunk))[:, :, None]  # (b, chunks, 1, l, state)
        c = c.unflatten(1, (-1, self.chunk))[:, :, None]
        total = decay.cumsum(dim=-1)
        later = torch.ones(self.chunk, self.chunk, dtype=torch.bool, device=x.device).triu(1)
        between = (total[..., :, None] - total[..., None, :]).masked_fill(later, float("-inf")).exp()
        inside = (c @ b.transpose(-2, -1) * between) @ values
        gained = (values * (total[..., -1:] - total).exp()[..., None]).transpose(
            -2, -1
        ) @ b  # (b, chunks, heads, width, state)
        state, states = carried, []
        for i in range(gained.shape[1]):
            states.append(state)
            state = state * total[:, i, :, -1, None, None].exp() + gained[:, i]
        before = c @ torch.stack(states, dim=1).transpose(-2, -1) * total.exp()[..., None]
        y = (inside + before).transpose(2, 3).flatten(1, 2)
        return y + x * self.skip[:, None], state


def get_inputs(
    *,
    batch: int = 16,
    steps: int = 2048,
    heads: int = 24,
    head_width: int = 64,
    state: int = 64,
    chunk: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, steps, heads, head_width)
    step = torch.randn(batch, steps, heads)
    b, c = torch.randn(2, batch, steps, state).unbind()
    if family == "sparse":  # something happens in one step of sixteen; between, the state decays
        x = x * (torch.rand(batch, steps, 1, 1) < 1 / 16) * 4
    if family == "wide":  # step sizes over three decades: some heads forget at once, some never
        step = step * 3
    return [x, step, b, c, torch.randn(batch, heads, head_width, state)]


def get_init_inputs(
    *, batch: int = 16, steps: int = 2048, heads: int = 24, head_width: int = 64, state: int = 64, chunk: int = 64
) -> list:
    return [heads, chunk]
