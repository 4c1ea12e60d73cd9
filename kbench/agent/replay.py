"""A stored trajectory judged again, without a model: every state of it, by the referee of here and now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kbench.agent.judge import Judge
from kbench.agent.trajectory import NAME, source_name, whole_events
from kbench.codec import decode
from kbench.extract import detect_language
from kbench.files import read_plain
from kbench.source import source_hash
from kbench.types import Problem, Snapshot, Solution
from kbench.words import speedups_text


@dataclass(frozen=True, slots=True)
class Again:
    """One state judged again. `differs` is None where the verdicts agree."""

    key: str
    turn: int
    differs: str | None
    note: str


def replay(
    folder: Path, problem: Problem, key: str, origin: str, judge: Judge, report: Callable[[str], None]
) -> Iterator[Again]:
    """`folder` is the attempt's; each state is judged as it was then, as a check or timed."""
    for event in whole_events(folder / NAME):
        if event["event"] != "snapshot":
            continue
        snapshot = decode(Snapshot, event["snapshot"])
        report(f"judging {key} turn {snapshot.turn} again")
        yield _again(folder, problem, key, origin, judge, snapshot)


def _again(folder: Path, problem: Problem, key: str, origin: str, judge: Judge, then: Snapshot) -> Again:
    name = source_name(then.solution_hash)
    data = read_plain(folder / name) if Path(name).name == name else None
    if data is None:
        return Again(key, then.turn, "its source is not stored", "")
    source = data.decode("utf-8", "surrogateescape")
    if source_hash(source) != then.solution_hash:
        return Again(key, then.turn, "the stored source is not the one that was judged", "")
    ask = judge.verify if then.kind == "verify" else judge.profile
    now = ask(problem, Solution(source, origin, detect_language(source)))
    speedups = now.timing.speedups if now.timing is not None else ()
    before = ", ".join(f"{value:.3g}x {name}" for name, value in then.speedups.items())
    note = f"{then.status} ({before}) then, {now.status} ({speedups_text(speedups)}) now"
    return Again(key, then.turn, None if now.status is then.status else f"{note}: {now.message}", note)
