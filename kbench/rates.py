"""What a device was measured to do at best: bytes and floating-point operations per second, kept per device.

The best of all measurements counts: a bound from one that something disturbed would accuse honest kernels.
"""

from __future__ import annotations

import json
from pathlib import Path

from kbench.files import write_atomic

FILE = "rates.json"
BYTES = ("read", "write", "copy")  # bytes per second; the others are floating-point operations per second


def load(cache: Path, device_key: str) -> dict[str, float]:
    """What was measured on that device so far; empty where nothing was, or the file cannot be read."""
    return _read(cache).get(device_key, {})


def keep(cache: Path, device_key: str, found: dict[str, float]) -> dict[str, float]:
    """The best of what was known and what was found now, which is kept."""
    stored = _read(cache)
    known = stored.get(device_key, {})
    best = known | {name: max(rate, known.get(name, 0.0)) for name, rate in found.items()}
    if best != known:
        write_atomic(cache / FILE, json.dumps(stored | {device_key: best}, indent=1), durable=False)
    return best


def told(name: str, rate: float) -> str:
    """4.35 TB/s, 51.2 TFLOP/s"""
    unit = "B/s" if name in BYTES else "FLOP/s"
    factor, prefix = (1e12, "T") if rate >= 1e12 else (1e9, "G")
    return f"{rate / factor:.3g} {prefix}{unit}"


def _read(cache: Path) -> dict[str, dict[str, float]]:
    try:
        stored = json.loads((cache / FILE).read_text())
        return {key: {name: float(rate) for name, rate in rates.items()} for key, rates in stored.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
