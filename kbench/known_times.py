"""Times of a problem's baselines that stored runs hold: what `kbench run --model builtin/...` measured, here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kbench.cell import device_name
from kbench.errors import KBenchError
from kbench.store import latest, load, read_info
from kbench.types import Problem, RunInfo

BASELINE = "builtin/"


@dataclass(frozen=True, slots=True)
class KnownTimes:
    """One run's word on one problem."""

    run: str
    device: str
    shapes: str
    precision: str
    created: str
    latency_us: dict[str, float]  # "eager", "compile", "compile-max-autotune" -> time of a call
    failed: str = ""  # why there is none


def known_times(results: Path, problem: Problem) -> Iterator[KnownTimes]:
    """From every readable run of a baseline below `results` that had this very problem, the oldest first."""
    runs = []
    for path in sorted({*results.glob("*/run.json"), *results.glob("*/*/run.json")}):
        try:
            info = read_info(path.parent)
        except KBenchError:
            continue
        if info.problems.get(problem.id) == problem.content_hash and _model(info).startswith(BASELINE):
            runs.append((info, path.parent))
    for info, folder in sorted(runs, key=lambda run: run[0].created):
        for record in latest(load(folder, raw_samples=False).records):
            if record.problem_id == problem.id:
                timing = record.verdict.timing if record.verdict is not None else None
                found = dict(timing.latency_us) if timing is not None else {}
                own = found.pop("candidate", None)
                if own is not None:
                    found[_model(info).removeprefix(BASELINE)] = own
                why = (
                    ""
                    if found
                    else record.not_run or (record.verdict.message if record.verdict else str(record.status))
                )
                yield KnownTimes(
                    info.run_id, device_name(info), str(info.config.get("shapes")), str(info.config.get("precision")),
                    info.created, found, why,
                )  # fmt: skip


def _model(info: RunInfo) -> str:
    return str(info.config.get("model", ""))
