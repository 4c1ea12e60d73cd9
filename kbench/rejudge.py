"""Judges some attempts of a stored run again, here and now, and says whether the verdicts agree."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kbench import registry
from kbench.artifacts import SOLUTION, judged_source, place_of
from kbench.errors import ConfigError, ProblemError, SchemaError
from kbench.evaluate import Settings
from kbench.models.builtin import builtin_solution
from kbench.store import Run, latest
from kbench.types import Precision, Problem, Record, Solution, Status, Verdict
from kbench.words import speedups_text

LONGEST = 200  # characters of a setting
Judge = Callable[[Problem, Solution], Verdict]
OURS = (None, Status.INFRA_ERROR, Status.NO_CODE, Status.REFUSED)  # nothing was judged


@dataclass(frozen=True, slots=True)
class Again:
    """One attempt, or a state of it ("level1/019_relu#0 turn 3"), judged again. `differs` is one line, None where the verdicts
    agree; `note` says both times."""

    key: str
    differs: str | None
    note: str


def settings_of(config: dict[str, object]) -> Settings:
    """The settings that a run was judged with, as run.json keeps them: every value as text. ConfigError names what is none."""
    values: dict[str, Any] = {}
    for field in fields(Settings):
        if field.name not in config:
            continue
        text = str(config[field.name])
        try:
            values[field.name] = _value(field.default, text[:LONGEST])
        except (ValueError, SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
            raise ConfigError(f"run.json: {field.name} is {text[:80]!r}, which kbench never writes there") from error
    return Settings(**values)


def _value(default: Any, text: str) -> Any:
    if isinstance(default, Precision):
        return Precision(text)
    if isinstance(default, bool):
        return {"True": True, "False": False}[text] if text in ("True", "False") else ast.literal_eval(text)
    if isinstance(default, (int, float, tuple)):
        return type(default)(ast.literal_eval(text))
    return text


def was_judged(record: Record) -> bool:
    return record.status not in OURS and record.solution_hash is not None


def choose(run: Run, count: int, rng: random.Random) -> list[Record]:
    """`count` of the attempts that were judged, or all of them where there are fewer."""
    judged = [record for record in latest(run.records) if was_judged(record)]
    return sorted(rng.sample(judged, min(count, len(judged))), key=lambda record: record.key)


def rejudge(
    run: Run, records: Sequence[Record], judge: Judge, suite: Path | None, report: Callable[[str], None]
) -> list[Again]:
    problems = {problem.id: problem for problem in registry.discover(suite)}
    found = []
    for record in records:
        report(f"judging {record.key} again")
        found.append(_again(record, run, problems.get(record.problem_id), judge))
    return found


def _again(record: Record, run: Run, problem: Problem | None, judge: Judge) -> Again:
    try:
        here = still(problem, record, run)
        solution = stored_solution(run, record, here)
    except (ConfigError, SchemaError) as error:
        return Again(record.key, str(error), "")
    try:
        verdict = judge(here, solution)
    except ProblemError as error:
        return Again(record.key, f"its problem cannot be run here: {error}", "")
    differs = (
        None if verdict.status is record.status else f"was {record.status}, is {verdict.status}: {verdict.message}"
    )
    return Again(
        record.key, differs or _apart(record, verdict), f"{_times(record.verdict)} then, {_times(verdict)} now"
    )


def still(problem: Problem | None, record: Record, run: Run) -> Problem:
    """The problem that an attempt was judged by. ConfigError where it is not what is here under that name."""
    if problem is None:
        raise ConfigError(f"{record.problem_id}: the problem is not here; name the run's suite with --suite")
    if problem.content_hash != run.info.problems[record.problem_id]:
        raise ConfigError(
            f"{record.problem_id}: the problem has changed since it was judged; check its text out as it was then"
        )
    return problem


def stored_solution(run: Run, record: Record, problem: Problem) -> Solution:
    """What was judged in an attempt. SchemaError where the stored source is not that."""
    if record.exempt and record.origin.startswith("builtin/"):
        return builtin_solution(record.origin, problem)
    source = judged_source(place_of(run.folder, record.problem_id, record.sample) / SOLUTION, record.solution_hash)
    return Solution(source, record.origin, record.language)


def _apart(record: Record, verdict: Verdict) -> str | None:
    """Speed-ups whose intervals exclude each other. Without intervals times are shown, and accuse nobody."""
    before, after = (v.timing if v is not None else None for v in (record.verdict, verdict))
    for old in before.speedups if before is not None else ():
        new = after.speedup(old.baseline) if after is not None else None
        if new is None or old.interval is None or new.interval is None:
            continue
        if old.interval.low > new.interval.high or new.interval.low > old.interval.high:
            return f"was {old.value:.3g}x {old.baseline}, is {new.value:.3g}x: the intervals exclude each other"
    return None


def _times(verdict: Verdict | None) -> str:
    timing = verdict.timing if verdict is not None else None
    status = str(verdict.status) if verdict is not None else "no verdict"
    return with_speeds(status, speedups_text(timing.speedups) if timing is not None else "")


def with_speeds(status: str, speeds: str) -> str:
    return f"{status} ({speeds})" if speeds else status
