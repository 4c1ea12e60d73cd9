"""Gated delta rule (Gated DeltaNet) in chunks: each step decays a matrix state and replaces what it holds under a key by the
new value. No public counterpart. The triangular system of a chunk is inverted by products, chunk follows chunk; a state
comes in and goes out."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 8, "heads": 16, "steps": 1024, "key_width": 128, "value_width": 128, "chunk": 64},
    "medium": {"batch": 2, "heads": 16, "steps": 1024, "key_width": 128, "value_width": 128, "chunk": 64},
    "small": {"batch": 2, "heads": 3, "steps": 128, "key_width": 32, "value_width": 24, "chunk": 32},
    "odd": {"batch": 3, "heads": 2, "steps": 115, "key_width": 29, "value_width": 31, "chunk": 23},
}
INPUTS = ("default", "ties", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _inverse_of_one_plus(lower: torch.Tensor) -> torch.Tensor:
    """(I + lower)^-1 of a strictly lower triangular matrix: (I - L)(I + L^2)(I + L^4)..., which ends, since L^n = 0."""
    n = lower.shape[-1]
    identity = torch.eye(n, dtype=lower.dtype, device=lower.device)
    power, inverse, reach = -lower, identity - lower, 2
    while reach < n:
        power = power @ power
        inverse = inverse + inverse @ power
        reach *= 2
    return inverse


class Model(nn.Module):
    """q and k (b, heads, t, key), v (b, heads, t, value), decay and rate (b, heads, t), S (b, heads, key, value) -> y as v, S.

    S[t] = a[t] * (S[t-1] - r[t] * k[t] k[t]' S[t-1]) + r[t] * k[t] v[t]' and y[t] = S[t]' q[t], with unit q and k, a = the
    exponential of minus a positive rate, r = sigmoid; chunk divides t.
    """

    def __init__(self, heads: int, chunk: int):
        super().__init__()
        self.chunk = chunk
        self.log_rate = nn.Parameter(torch.empty(heads, 1).uniform_(-3.0, -0.5))
        self.decay_bias = nn.Parameter(torch.randn(heads, 1))

    def forward(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        decay: torch.Tensor,
        rate: torch.Tensor,
        state: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, v = (x.unflatten(2, (-1, self.chunk)) for x in (F.normalize(q, dim=-1), F.normalize(k, dim=-1), v))
        rate = torch.sigmoid(rate).unflatten(2, (-1, self.chunk))[..., None]  # (b, heads, chunks, l, 1)
        decay = -self.log_rate.exp() * F.softplus(decay + self.decay_bias)
        total = decay.unflatten(2, (-1, self.chunk)).cumsum(dim=-1)[..., None]
        later = torch.ones(self.chunk, self.chunk, dtype=torch.bool, device=q.device).triu(1)
        between = (total - total.transpose(-2, -1)).masked_fill(later, float("-inf")).exp()  # (..., l, l)
        solve = _inverse_of_one_plus((rate * (k @ k.transpose(-2, -1)) * between).tril(-1))
        new_values = solve @ (rate * v)
        old_keys = solve @ (rate * k * total.exp())
        scores = q @ k.transpose(-2, -1) * between
        kept = k * (total[..., -1:, :] - total).exp()
        outputs = []
        for i in range(q.shape[2]):
            values = new_values[:, :, i] - old_keys[:, :, i] @ state
            outputs.append((q * total.exp())[:, :, i] @ state + scores[:, :, i] @ values)
            state = state * total[:, :, i, -1:].exp() + kept[:, :, i].transpose(-2, -1) @ values
        return torch.cat(outputs, dim=2), state


def get_inputs(
    *,
    batch: int = 8,
    heads: int = 16,
    steps: int = 1024,
    key_width: int = 128,
    value_width: int = 128,
    chunk: int = 64,
    family: str = "default",
) -> list[torch.Tensor]:
    q, k = torch.randn(2, batch, heads, steps, key_width).unbind()
    v = torch.randn(batch, heads, steps, value_width)
    decay, rate = torch.randn(2, batch, heads, steps).unbind()
    if family == "ties":  # few distinct keys: most steps overwrite what an earlier one wrote
        k = torch.randn(batch, heads, 8, key_width).repeat(1, 1, steps // 8 + 1, 1)[:, :, :steps]
    if family == "sparse":  # three steps of four hardly write
        rate = torch.where(torch.rand(batch, heads, steps) < 0.25, rate + 2, rate - 6)
    state = 0.3 * torch.randn(batch, heads, key_width, value_width)
    return [q.contiguous(), k.contiguous(), v, decay.contiguous(), rate.contiguous(), state]


def get_init_inputs(
    *,
    batch: int = 8,
    heads: int = 16,
    steps: int = 1024,
    key_width: int = 128,
    value_width: int = 128,
    chunk: int = 64,
) -> list:
    return [heads, chunk]
