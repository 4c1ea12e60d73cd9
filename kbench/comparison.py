"""Two runs of the same problems, attempt by attempt: what changed, by how much, and how sure that is.

A pair is an attempt (problem and sample) that both runs scored. Whatever has no partner is listed, never guessed. The
problem is the unit of every test and interval. Not covered: whether a change is one too many (gates).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbench.aggregate import BASELINES
from kbench.cell import Cell, cell_of, differing, suite_hash_of
from kbench.changes import GATE_LEVEL, Change, Pair, by_problem, changes, mean, passed, samples_of, speedup
from kbench.errors import ConfigError
from kbench.inert import one_line
from kbench.store import Run, latest
from kbench.types import Record, Status
from kbench.words import timing_text


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair whose answer changed: what each side's verdict says, in one line each."""

    kind: str  # "newly failing", "newly passing", "no longer faster than compile", "now faster than compile"
    problem: str
    sample: int
    base: str
    new: str


@dataclass(frozen=True, slots=True)
class Movement:
    """How much faster a problem's solutions became, new over base, where both runs solved it."""

    problem: str
    baseline: str
    base: float
    new: float

    @property
    def ratio(self) -> float:
        return self.new / self.base


@dataclass(frozen=True, slots=True)
class Comparison:
    base: str
    new: str
    base_model: str
    new_model: str
    cell: Cell
    cells_differ: tuple[str, ...]  # empty unless that was allowed
    paired_problems: tuple[str, ...]
    pairs: int
    samples: int
    gate_level: float
    unpaired: tuple[str, ...]  # attempts asked for in both and not scored in one of them
    not_run: tuple[str, ...]  # attempts that neither run made, since the problem does not fit the device
    changes: tuple[Change, ...]
    flips: tuple[Flip, ...]
    lost_problems: tuple[str, ...]  # solved at least once by base and never by new
    movements: tuple[Movement, ...]

    @property
    def problems(self) -> int:
        return len(self.paired_problems)

    def change(self, metric: str, scope: str = "overall") -> Change | None:
        return next((c for c in self.changes if (c.metric, c.scope) == (metric, scope)), None)


def compare(base: Run, new: Run, allow_different_device: bool = False, gate_level: float = GATE_LEVEL) -> Comparison:
    """The comparison of two runs of one cell. ConfigError where their cells differ, but for an allowed other device."""
    for run in (base, new):
        if suite_hash_of(run.info.problems) != run.info.suite_hash:
            raise ConfigError(f"{run.folder}: its suite hash is not that of its problems; kbench verify says more")
    differences = differing(cell_of(base.info), cell_of(new.info))
    labels = [base.info.run_id, new.info.run_id]
    if labels[0] == labels[1]:  # one was copied: their folders tell them apart
        labels = [str(base.folder), str(new.folder)]
    refused = [d for d in differences if not (allow_different_device and d.startswith("device "))]
    refused = [_other_problems(base, new) if d.startswith("suite ") else d for d in refused]
    if refused:
        hint = "" if allow_different_device or len(refused) < len(differences) else _hint(refused)
        raise ConfigError(f"{labels[0]} and {labels[1]} cannot be compared: {'; '.join(refused)}{hint}")
    pairs, unpaired, not_run = paired(base, new)
    scopes = ["overall", *sorted({f"level{pair.base.level}" for pair in pairs})]
    return Comparison(
        base=labels[0],
        new=labels[1],
        base_model=str(base.info.config.get("model", "?")),
        new_model=str(new.info.config.get("model", "?")),
        cell=cell_of(new.info),
        cells_differ=tuple(differences),
        paired_problems=tuple(by_problem(pairs)),
        pairs=len(pairs),
        samples=samples_of(by_problem(pairs)),
        gate_level=gate_level,
        unpaired=tuple(unpaired),
        not_run=tuple(not_run),
        changes=tuple(change for scope in scopes for change in changes(scope, pairs, gate_level)),
        flips=tuple(flips(pairs)),
        lost_problems=tuple(lost(pairs)),
        movements=tuple(m for baseline in BASELINES for m in movements(pairs, baseline)),
    )


def _other_problems(base: Run, new: Run) -> str:
    """How the problems of two suites differ, with some names."""
    first, second = base.info.problems, new.info.problems
    groups = (
        (f"only in {base.info.run_id}", [p for p in first if p not in second]),
        (f"only in {new.info.run_id}", [p for p in second if p not in first]),
        ("with another text", [p for p in first if p in second and first[p] != second[p]]),
    )
    told = [
        f"{len(names)} {where} ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"
        for where, names in groups
        if names
    ]
    return f"their problems differ: {'; '.join(told)}; run both with the same --level, -p and --limit"


def _hint(refused: Sequence[str]) -> str:
    return "; give --allow-different-device" if all(d.startswith("device ") for d in refused) else ""


def paired(base: Run, new: Run) -> tuple[list[Pair], list[str], list[str]]:
    """The attempts that both runs scored, in base's order of problems; the keys of those that one of them lacks, and of those
    that neither could run."""
    sides = [{record.key: record for record in latest(run.records)} for run in (base, new)]
    scored = [{key: r for key, r in side.items() if r.status not in (None, Status.INFRA_ERROR)} for side in sides]
    asked = [
        f"{problem}#{sample}"
        for problem in base.info.problems
        for sample in range(max(base.info.samples, new.info.samples))
    ]
    keys = [key for key in asked if key in scored[0] and key in scored[1]]
    skipped = [{key for key, record in side.items() if record.not_run is not None} for side in sides]
    neither = [key for key in asked if key in skipped[0] and key in skipped[1]]
    told = {*keys, *neither}
    return [Pair(scored[0][key], scored[1][key]) for key in keys], [key for key in asked if key not in told], neither


def flips(pairs: Sequence[Pair]) -> Iterator[Flip]:
    """Pairs that pass in one run only, the failing first; then those that are faster than a baseline in one run only."""
    turned = [(pair, passed(pair.new) - passed(pair.base)) for pair in pairs]
    for wanted, kind in ((-1, "newly failing"), (1, "newly passing")):
        yield from (_flip(kind, pair) for pair, change in turned if change == wanted)
    both = [pair for pair, change in turned if change == 0 and passed(pair.base)]
    for baseline in reversed(BASELINES):
        for pair in both:
            before, after = speedup(pair.base, baseline), speedup(pair.new, baseline)
            if before is not None and after is not None and (before > 1) != (after > 1):
                yield _flip(f"{'no longer' if before > 1 else 'now'} faster than {baseline}", pair)


def _flip(kind: str, pair: Pair) -> Flip:
    return Flip(kind, pair.problem, pair.base.sample, said(pair.base), said(pair.new))


def said(record: Record) -> str:
    """A record's verdict in one printable line: "correct, 1.42x eager, 1.10x compile", "incorrect: ..."."""
    verdict = record.verdict
    if record.status is Status.CORRECT:
        text = timing_text(verdict.timing if verdict is not None else None)
        return f"correct, {text}" if text else "correct"
    message = verdict.message if verdict is not None else ""
    return one_line(f"{record.status}: {message}" if message else str(record.status))


def lost(pairs: Sequence[Pair]) -> Iterator[str]:
    for problem, group in by_problem(pairs).items():
        if any(passed(pair.base) for pair in group) and not any(passed(pair.new) for pair in group):
            yield problem


def movements(pairs: Sequence[Pair], baseline: str) -> list[Movement]:
    """Of the problems that both runs solved in the same attempts; the largest loss first."""
    found = []
    for problem, group in by_problem(pairs).items():
        values = [(speedup(pair.base, baseline), speedup(pair.new, baseline)) for pair in group]
        logs = [(math.log(b), math.log(n)) for b, n in values if b is not None and n is not None]
        if logs:
            base, new = mean([b for b, _ in logs]), mean([n for _, n in logs])
            found.append(Movement(problem, baseline, math.exp(base), math.exp(new)))
    return sorted(found, key=lambda movement: movement.ratio)
