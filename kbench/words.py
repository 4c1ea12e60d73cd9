"""Words that several messages share."""

from __future__ import annotations

import math
from collections.abc import Iterable

from kbench.types import Speedup, Timing


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 attempt", "2 attempts"; `many` where that is not `one` with an s."""
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"


def dollars_at_most(dollars: float, places: int = 4) -> str:
    """ "$0.0548": rounded up, so that a budget of as much is enough."""
    cents = 10**places
    return f"${math.ceil(dollars * cents) / cents:.{places}f}"


def rough(few: int) -> str:
    """Of an interval whose spread so few problems make."""
    return f"{counted(few, 'problem')} {'makes' if few == 1 else 'make'} most of the spread, so the interval is rough"


def speedups_text(speedups: Iterable[Speedup]) -> str:
    """ "1.42x eager, 1.1x compile"."""
    return ", ".join(f"{speedup.value:.3g}x {speedup.baseline}" for speedup in speedups)


def timing_text(timing: Timing | None) -> str:
    """The same, with " (noisy)" behind it where the machine was disturbed; empty without a speed-up."""
    text = speedups_text(timing.speedups) if timing is not None else ""
    return f"{text} (noisy)" if text and timing is not None and "noisy" in timing.flags else text


def format_time(us: float) -> str:
    """ "12.3 us", "4.56 ms" or "7.89 s", from microseconds."""
    if us < 1000:
        return f"{us:.1f} us"
    return f"{us / 1000:.3g} ms" if us < 1e6 else f"{us / 1e6:.3g} s"
