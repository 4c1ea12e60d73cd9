"""What a device does at best: bytes per second of its memory, floating-point operations per second of a matrix product.

Which actions these are is the same for every device; how long one takes each device tells by its own clock.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

RATE_TIMES = 6
Action = Callable[[], object]
Clock = Callable[[Action], float]  # seconds that an action takes


def bytes_per_s(size_bytes: int, device: str, seconds: Clock) -> dict[str, float]:
    """Of reading, writing and copying so many bytes, each the best of a few."""
    source = torch.ones(size_bytes // 4, device=device)
    target = torch.empty_like(source)
    kinds: dict[str, tuple[Action, int]] = {
        "read": (lambda: source.sum(), size_bytes),
        "write": (lambda: target.fill_(2.0), size_bytes),
        "copy": (lambda: target.copy_(source), 2 * size_bytes),
    }
    return {name: moved / _least(seconds, action) for name, (action, moved) in kinds.items()}


def flops_per_s(side: int, device: str, dtype: torch.dtype, seconds: Clock) -> float:
    """Of the product of two square matrices, the best of a few."""
    matrix = torch.ones(side, side, device=device, dtype=dtype)
    return float(2 * side**3 / _least(seconds, lambda: torch.mm(matrix, matrix)))


def _least(seconds: Clock, action: Action) -> float:
    return min(seconds(action) for _ in range(RATE_TIMES))
