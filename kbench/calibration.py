"""Pooled between-process spread from A/A runs, per device and duration class; without it no interval is shown."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kbench.errors import SchemaError
from kbench.files import write_atomic
from kbench.referee.case import Calibration

MIN_RUNS = 30  # A/A pairs a class before its spread is used
FILE = "calibration.json"
VERSION = 1


def load(cache: Path, device_key: str) -> Calibration:
    """The calibration of that device; empty where there is none."""
    return from_ratios(_read(cache).get(device_key, {}))


def from_ratios(log_ratios: dict[str, list[float]]) -> Calibration:
    """Root mean square of A/A log-ratios about zero, which is where they belong; classes of fewer than MIN_RUNS are left out."""
    enough = {kind: values for kind, values in log_ratios.items() if len(values) >= MIN_RUNS}
    return Calibration(
        {kind: math.sqrt(sum(v * v for v in values) / len(values)) for kind, values in enough.items()},
        {kind: len(values) for kind, values in enough.items()},
    )


def add(cache: Path, device_key: str, runs: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Stores more A/A log-ratios (class, value) for the device; all of them so far are returned."""
    stored = _read(cache)
    own = stored.setdefault(device_key, {})
    for kind, value in runs:
        own.setdefault(kind, []).append(round(value, 6))
    write_atomic(cache / FILE, json.dumps({"version": VERSION, "log_ratios": stored}, indent=1))
    return own


def _read(cache: Path) -> dict[str, dict[str, list[float]]]:
    path = cache / FILE
    if not path.exists():
        return {}
    try:
        data: Any = json.loads(path.read_text())
        if data["version"] != VERSION:
            raise SchemaError(f"{path} is of version {data['version']}; run kbench doctor --calibrate again")
        ratios: dict[str, dict[str, list[float]]] = data["log_ratios"]
    except (ValueError, KeyError, TypeError) as error:
        raise SchemaError(f"{path} cannot be read ({error}); remove it and run kbench doctor --calibrate") from error
    return ratios
