"""Re-derives what a run says from what it measured, and names every difference. Trusts nothing but the raw samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from kbench import aggregate, registry
from kbench.codec import encode
from kbench.errors import KBenchError
from kbench.referee import clock
from kbench.referee.case import Calibration
from kbench.run import source_hash
from kbench.store import latest, load
from kbench.summary import read_summary
from kbench.types import Record, Status

TOLERANCE = 1e-9


def findings(folder: Path, suite: Path | None = None) -> list[str]:
    """One line a difference; empty where the run holds."""
    run = load(folder)
    records = latest(run.records)
    found = [line for record in records for line in of_record(record, folder)]
    found += of_problems(run.info.problems, suite)
    again = aggregate.summarise(run.records, list(run.info.problems), run.info.samples)
    try:
        stored = encode(read_summary(folder))
    except KBenchError as error:
        return [*found, str(error)]
    found += list(differences("summary", stored, encode(again)))
    if not again.complete:
        found.append(
            f"the run is not complete: {len(again.incomplete)} infrastructure errors, {len(again.missing)} missing"
        )
    return found


def of_record(record: Record, folder: Path) -> Iterator[str]:
    verdict = record.verdict
    if verdict is None:
        return
    if record.status is Status.CORRECT and not all(gate.passed for gate in verdict.gates):
        yield f"{record.key}: correct although a gate gave no evidence"
    path = folder / "artifacts" / record.problem_id / str(record.sample) / "solution.py"
    if path.is_file() and source_hash(path.read_bytes().decode("utf-8", "surrogateescape")) != record.solution_hash:
        yield f"{record.key}: the stored solution is not the one that was judged"
    if verdict.timing is None:
        return
    baselines = [speedup.baseline for speedup in verdict.timing.speedups]
    again = clock.assess(verdict.timing.samples, baselines, Calibration(), interval=False, device=verdict.device)
    for before, after in zip(verdict.timing.speedups, again.speedups, strict=True):
        if not math.isclose(before.value, after.value, rel_tol=TOLERANCE):
            yield f"{record.key}: {before.value:.6g}x {before.baseline} is stored, its samples give {after.value:.6g}x"


def of_problems(stored: dict[str, str], suite: Path | None) -> Iterator[str]:
    """Problems whose text is no longer the one that was judged; only where the suite is at hand."""
    try:
        there = {problem.id: problem.content_hash for problem in registry.discover(suite)}
    except KBenchError:
        return
    for problem, content_hash in stored.items():
        if problem in there and there[problem] != content_hash:
            yield f"{problem}: the problem has changed since"


def differences(path: str, stored: object, again: object) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in sorted(stored.keys() | again.keys()):
            yield from differences(f"{path}.{key}", stored.get(key), again.get(key))
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for i, (before, after) in enumerate(zip(stored, again, strict=True)):
            yield from differences(f"{path}[{i}]", before, after)
    elif stored != again and not (
        isinstance(stored, float) and isinstance(again, float) and math.isclose(stored, again, rel_tol=TOLERANCE)
    ):
        yield f"{path}: {stored!r} is stored, the records give {again!r}"
