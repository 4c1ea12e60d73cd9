"""A stored trajectory judged again, without a model: every state of it, by the referee of here and now.

A state's verdict is compared. Its times are shown and accuse nobody, since one pair of workers took them; the final verdict,
which has intervals, is judged again by rejudge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from kbench.agent.judge import Judge
from kbench.agent.trajectory import NAME, source_name, whole_events
from kbench.artifacts import judged_source
from kbench.codec import decode
from kbench.errors import SchemaError
from kbench.extract import detect_language
from kbench.rejudge import Again, with_speeds
from kbench.types import Problem, Snapshot, Solution
from kbench.words import speedups_text


def replay(
    folder: Path, problem: Problem, key: str, origin: str, judge: Judge, report: Callable[[str], None]
) -> Iterator[Again]:
    """`folder` is the attempt's; each state is judged as it was then, as a check or timed."""
    for event in whole_events(folder / NAME):
        if event["event"] != "snapshot":
            continue
        snapshot = decode(Snapshot, event["snapshot"])
        report(f"judging {key} turn {snapshot.turn} again")
        yield _again(folder, problem, f"{key} turn {snapshot.turn}", origin, judge, snapshot)


def _again(folder: Path, problem: Problem, place: str, origin: str, judge: Judge, then: Snapshot) -> Again:
    name = source_name(then.solution_hash)
    try:
        source = judged_source(folder / Path(name).name, then.solution_hash)
    except SchemaError as error:
        return Again(place, str(error), "")
    ask = judge.verify if then.kind == "verify" else judge.profile
    now = ask(problem, Solution(source, origin, detect_language(source)))
    speedups = now.timing.speedups if now.timing is not None else ()
    before = with_speeds(then.status, ", ".join(f"{value:.3g}x {name}" for name, value in then.speedups.items()))
    note = f"{before} then, {with_speeds(now.status, speedups_text(speedups))} now"
    return Again(place, None if now.status is then.status else f"{note}: {now.message}", note)
