"""Records and runs as a test needs them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kbench.cell import suite_hash_of
from kbench.referee.case import GATES
from kbench.store import ATTEMPTS, RunStore
from kbench.types import (
    BlockSample,
    Gate,
    Interval,
    Record,
    ReplyFacts,
    RunInfo,
    Speedup,
    Status,
    Timing,
    Verdict,
)

CLOCK = "2026-01-01T00:{:02d}:{:02d}+00:00"


def speedup(baseline: str, value: float, sure: bool | None = None) -> Speedup:
    """With an interval above 1 if `sure`, around 1 if not, none where it is None."""
    interval = None if sure is None else Interval(1.001 if sure else 0.5, max(value, 2.0))
    return Speedup(baseline, value, interval)


def timing(*speedups: Speedup, samples: Sequence[BlockSample] = (), candidate_us: float = 100.0) -> Timing:
    latency = {"candidate": candidate_us} | {s.baseline: s.value * candidate_us for s in speedups}
    return Timing(latency, {}, speedups, tuple(samples), 5.0)


def verdict(status: Status, timed: Timing | None = None, **more: Any) -> Verdict:
    passed = status is Status.CORRECT
    others = (Gate(name, True, "looked at") for name in GATES if passed and name != "values")
    gates = (Gate("build", True, "built"), Gate("values", passed, "compared"), *others)
    facts: dict[str, Any] = {"calls_made": 240, "calls_checked": 10, "device": "cpu"} | more
    return Verdict(status, f"it was {status}", gates, timing=timed, **facts)


def record(
    problem: str = "level1/1_a",
    status: Status | None = Status.CORRECT,
    sample: int = 0,
    *,
    eager: float | None = None,
    compiled: float | None = None,
    sure: bool | None = None,
    second: int = 0,
    seconds: int = 1,
    **more: Any,
) -> Record:
    """One attempt that started `second` seconds into a certain hour and took `seconds`."""
    pairs = (("eager", eager), ("compile", compiled))
    speedups = [speedup(name, value, sure) for name, value in pairs if value is not None]
    if status is not None and "verdict" not in more:
        more["verdict"] = verdict(status, timing(*speedups) if speedups else None)
    return Record(
        "run", problem, int(problem[5]), sample, CLOCK.format(*divmod(second, 60)),
        CLOCK.format(*divmod(second + seconds, 60)), status, **more,
    )  # fmt: skip


def reply(**facts: Any) -> ReplyFacts:
    return ReplyFacts("local/stub", **facts)


def info(**more: Any) -> RunInfo:
    fields: dict[str, Any] = {
        "run_id": "run",
        "created": CLOCK.format(0, 0),
        "kbench_version": "0.1.0",
        "config": {"model": "local/stub", "level": [1]},
        "environment": {"torch": "2.9"},
        "protocol": {"name": "strict"},
        "problems": {"level1/1_a": "x"},
    }
    fields |= more
    return RunInfo(**({"suite_hash": suite_hash_of(fields["problems"])} | fields))


THREE = [
    record("level1/1_a", Status.CORRECT),
    record("level1/2_a", Status.INCORRECT),
    record("level1/10_a", Status.TIMEOUT),
]


def filled(folder: Path, records: list[Record] = THREE) -> Path:
    with RunStore(folder) as store:
        store.begin(info())
        for one in records:
            store.append(one)
    return folder


def attempts(folder: Path) -> Path:
    return folder / ATTEMPTS


def whole_lines(folder: Path) -> list[dict[str, object]]:
    raw = attempts(folder).read_bytes()
    assert raw.endswith(b"\n")
    return [json.loads(line) for line in raw.splitlines()]


# Flags that choose eight problems, each of which the test server has a shipped C++ solution for.
EIGHT = ("--level", "1", "--limit", "8")
