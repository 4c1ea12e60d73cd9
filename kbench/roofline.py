"""Where a call stands under the roofline of a device: Williams, Waterman and Patterson, CACM 52(4), 2009.

A call that makes `flops` floating-point operations and moves `moved_bytes` takes at least
max(moved_bytes / rate of memory, flops / rate of arithmetic); the larger of the two says what bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kbench import rates
from kbench.words import format_time


@dataclass(frozen=True, slots=True)
class Roof:
    flops: float
    moved_bytes: float
    memory_us: float  # moving the bytes alone, at the best rate of reading, writing and copying that was measured
    compute_us: float | None  # the operations alone, as matrix products; None where no such rate is known

    @property
    def least_us(self) -> float:
        return max(self.memory_us, self.compute_us or 0.0)

    @property
    def bound(self) -> str:
        return "memory" if self.memory_us >= (self.compute_us or 0.0) else "arithmetic"


def roof(flops: float, moved_bytes: float, measured: dict[str, float], precision: str) -> Roof | None:
    """None where the device's memory was never measured."""
    memory = max((measured[name] for name in rates.BYTES if name in measured), default=0.0)
    if memory <= 0:
        return None
    arithmetic = measured.get(precision)
    return Roof(flops, moved_bytes, moved_bytes / memory * 1e6, flops / arithmetic * 1e6 if arithmetic else None)


def told(found: Roof) -> str:
    """ "0.25 FLOP a byte, bound by memory: 112.4 us for the bytes, 5.1 us for the arithmetic" """
    intensity = f"{found.flops / found.moved_bytes:.3g} FLOP a byte, " if found.moved_bytes else ""
    compute = f", {format_time(found.compute_us)} for the arithmetic" if found.compute_us is not None else ""
    return f"{intensity}bound by {found.bound}: {format_time(found.memory_us)} for the bytes{compute}"
