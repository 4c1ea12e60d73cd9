"""What a GPU does at best: bytes per second of its memory, floating-point operations per second of its matrix units."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

RATE_BYTES, RATE_SIDE, RATE_TIMES = 2 << 30, 8192, 6
RATE_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def bytes_per_s() -> dict[str, float]:
    """Of reading, writing and copying RATE_BYTES of device memory, each the best of a few."""
    source = torch.ones(RATE_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    kinds: dict[str, tuple[Callable[[], object], int]] = {
        "read": (lambda: source.sum(), RATE_BYTES),
        "write": (lambda: target.fill_(2.0), RATE_BYTES),
        "copy": (lambda: target.copy_(source), 2 * RATE_BYTES),
    }
    return {name: moved / shortest_s(action) for name, (action, moved) in kinds.items()}


def flops_per_s() -> dict[str, float]:
    """Of a square matrix product in each precision, the best of a few. For people to look at: nothing is refused by it."""
    flags = torch.backends.cuda.matmul
    before, found = flags.allow_tf32, {}
    try:
        for name, dtype in RATE_DTYPES.items():
            flags.allow_tf32 = name == "tf32"
            matrix = torch.ones(RATE_SIDE, RATE_SIDE, device="cuda", dtype=dtype)
            found[name] = 2 * RATE_SIDE**3 / shortest_s(partial(torch.mm, matrix, matrix))
    finally:
        flags.allow_tf32 = before
    return found


def shortest_s(action: Callable[[], object]) -> float:
    times_ms = []
    for _ in range(RATE_TIMES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        action()
        end.record()
        end.synchronize()
        times_ms.append(begin.elapsed_time(end))
    shortest_ms: float = min(times_ms)
    return shortest_ms / 1e3
