"""No call is faster than the memory that it must touch.

floor = max(0, bytes that must move - bytes that a cache can hold) / (PEAK_SHARE * the best rate measured on the device)

Where a problem's SPEC says "moves": "all" (every input element is read, every output element written), a time below the floor is
refused; elsewhere it is marked for a person to look at, since algebra may save bytes that look necessary.
"""

from __future__ import annotations

from kbench.referee.layout import Layout

PEAK_SHARE = 0.95


def floor_us(layout: Layout, peak_bytes_per_s: float | None, cache_bytes: int) -> float | None:
    """Microseconds below which no call that reads its inputs and writes its outputs can be; None where no peak is known."""
    if peak_bytes_per_s is None:
        return None
    moved = sum(leaf.size_bytes for leaf in (*layout.leaves, *layout.outputs) if not leaf.aliases_input)
    return max(0, moved - cache_bytes) / (PEAK_SHARE * peak_bytes_per_s) * 1e6
