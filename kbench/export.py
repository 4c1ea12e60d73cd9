"""To KernelBench's files and back: eval_results.json, baseline JSON, and a run folder's kernels as solutions.

Formats as of KernelBench 423217d (2026-03): times in milliseconds, -1.0 for none, problems known by their number.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbench.errors import ConfigError
from kbench.files import write_atomic
from kbench.registry import number_of
from kbench.types import Record, Status, Timing, Verdict

KERNEL_FILE = re.compile(r"level_(\d+)_problem_(\d+)_sample_(\d+)_kernel\.py")
NEVER_BUILT = (Status.REFUSED, Status.NO_CODE, Status.COMPILE_ERROR)
DIGITS = 6  # significant, of a time; KernelBench's own three blur a speed-up near 1


# ---- out -------------------------------------------------------------------------------------------------------------


def eval_results(records: Iterable[Record], level: int) -> dict[str, list[dict[str, Any]]]:
    """eval_results.json of one level: problem number -> its samples, both in numerical order.

    What says nothing of a kernel is left out, as their harness has no word for it: infrastructure errors and problems
    not run on this device. A correct kernel without a time has runtime -1.0, as there.
    """
    last = {record.key: record for record in records if record.level == level}
    scored = [record for record in last.values() if record.status not in (None, Status.INFRA_ERROR)]
    results: dict[str, list[dict[str, Any]]] = {}
    for record in sorted(scored, key=lambda record: (number_of(record.problem_id), record.sample)):
        results.setdefault(str(number_of(record.problem_id)), []).append(_entry(record))
    return results


def baseline_times(records: Iterable[Record], side: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Baseline JSON: level -> problem file -> time of `side` ("eager", "compile"), of its last timed record.

    A problem whose records are all untimed has an entry of nulls. Their scripts write null for the entry itself, on
    which their analysis stops; without an entry it drops the problem, and with it a failure, from its denominators.
    What says nothing of a kernel has no entry here either, so that it is dropped and not counted as a failure.
    """
    times: dict[str, dict[str, dict[str, Any]]] = {}
    scored = [record for record in records if record.status not in (None, Status.INFRA_ERROR)]
    for record in sorted(scored, key=lambda record: (record.level, number_of(record.problem_id))):
        of_level = times.setdefault(f"level{record.level}", {})
        name = f"{record.problem_id.rpartition('/')[2]}.py"
        verdict = record.verdict
        stats = _runtime_stats(verdict, side) if verdict is not None else {}
        if stats or name not in of_level:
            of_level[name] = stats or {**dict.fromkeys(("mean", "std", "min", "max")), "num_trials": 0}
    return times


def write_eval_results(records: Sequence[Record], folder: Path) -> list[Path]:
    """eval_results.json in `folder`, or in level1/, level2/, ... under it where the run has several levels: their file
    does not say which level it is of."""
    levels = sorted({record.level for record in records})
    paths = []
    for level in levels:
        path = (folder / f"level{level}" if len(levels) > 1 else folder) / "eval_results.json"
        write_atomic(path, json.dumps(eval_results(records, level), indent=4) + "\n")
        paths.append(path)
    return paths


def write_baseline(records: Sequence[Record], side: str, path: Path) -> None:
    write_atomic(path, json.dumps(baseline_times(records, side), indent=4) + "\n")


def _entry(record: Record) -> dict[str, Any]:
    verdict = record.verdict
    correct = record.status is Status.CORRECT
    stats = _runtime_stats(verdict, "candidate") if correct and verdict is not None else {}
    return {
        "sample_id": record.sample,
        "compiled": _compiled(record),
        "correctness": correct,
        "metadata": _metadata(record),
        "runtime": stats.get("mean", -1.0),
        "runtime_stats": stats,
    }


def _compiled(record: Record) -> bool:
    """As the build gate says; where there is none, as the status does."""
    gates = record.verdict.gates if record.verdict is not None else ()
    built = [gate.passed is True for gate in gates if gate.name == "build"]
    return built[0] if built else record.status not in NEVER_BUILT


def _metadata(record: Record) -> dict[str, Any]:
    """Their keys where they have one for it, and kbench_status, which has no counterpart."""
    facts: dict[str, Any] = {"kbench_status": str(record.status), "kbench_problem": record.problem_id}
    verdict = record.verdict
    if verdict is None:
        return facts
    facts |= {"hardware": verdict.device, "device": verdict.device}
    match record.status:
        case Status.CORRECT:
            facts["correctness_trials"] = f"({verdict.calls_checked} / {verdict.calls_checked})"
        case Status.INCORRECT:
            facts |= {"correctness_issue": verdict.message, "correctness_issue_name": "incorrect"}
        case Status.COMPILE_ERROR:
            facts |= {"compilation_error": verdict.detail or verdict.message, "compilation_error_name": "compile_error"}
        case Status.RUNTIME_ERROR:
            facts |= {"runtime_error": verdict.message, "runtime_error_traceback": verdict.detail}
        case _:
            facts["error"] = verdict.message
    speedups = verdict.timing.speedups if verdict.timing is not None else ()
    return facts | {f"speedup_vs_{speedup.baseline}": speedup.value for speedup in speedups}


def _runtime_stats(verdict: Verdict, side: str) -> dict[str, Any]:
    """Their statistics of one side in milliseconds; empty where it was not timed.

    The mean is the time of a call as judged (the slope over block lengths), the rest is of the longest blocks, each
    as a time of a call less the fixed overhead. A spread that is not known is null.
    """
    timing = verdict.timing
    if timing is None or side not in timing.latency_us:
        return {}
    mean = timing.latency_us[side]
    calls = _call_times_us(timing, side)
    return {
        "mean": _milliseconds(mean),
        "std": _milliseconds(statistics.stdev(calls)) if len(calls) > 1 else None,
        "min": _milliseconds(min(calls, default=mean)),
        "max": _milliseconds(max(calls, default=mean)),
        "num_trials": len(calls),
        "hardware": verdict.device,
        "device": verdict.device,
    }


def _call_times_us(timing: Timing, side: str) -> list[float]:
    blocks = [sample for sample in timing.samples if sample.side == side and sample.k > 0]
    longest = max((block.k for block in blocks), default=0)
    return [(block.elapsed_us - timing.overhead_us) / block.k for block in blocks if block.k == longest]


def _milliseconds(microseconds: float) -> float:
    return float(f"{microseconds / 1000:.{DIGITS}g}")


# ---- in --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KernelFile:
    """One kernel of a KernelBench run folder, by its name."""

    level: int
    number: int
    sample: int
    path: Path


def kernel_files(folder: Path) -> list[KernelFile]:
    """The `level_{L}_problem_{P}_sample_{S}_kernel.py` of a folder, in numerical order; empty where it has none.

    ConfigError where the folder cannot be read, or two names mean the same sample.
    """
    try:
        names = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be read: {error.strerror}") from error
    matches = [(path, match) for path in names if (match := KERNEL_FILE.fullmatch(path.name))]
    files = [KernelFile(int(match[1]), int(match[2]), int(match[3]), path) for path, match in matches]
    files.sort(key=lambda file: (file.level, file.number, file.sample))
    for one, other in itertools.pairwise(files):
        if (one.level, one.number, one.sample) == (other.level, other.number, other.sample):
            raise ConfigError(f"{folder}: {one.path.name} and {other.path.name} are the same sample; remove one")
    return files
