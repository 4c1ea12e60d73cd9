"""The metrics of paired attempts: a rate's or a ratio's change between two runs, with intervals and an exact test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kbench.aggregate import BASELINES
from kbench.paired import (
    rate_difference_interval,
    ratio_interval,
    sign_flip_p,
    smallest_seen_drop,
    smallest_seen_losses,
    smallest_seen_mean,
)
from kbench.stats import SCARCE_EVENTS, few_that_spread, geometric_mean
from kbench.types import Interval, Record, Status

LEVEL = 0.95  # of the intervals that are shown
# A gate at 95 % fires on one of forty comparisons of equal runs, a rule; nobody keeps such a gate switched on.
GATE_LEVEL = 0.99


@dataclass(frozen=True, slots=True)
class Pair:
    """One attempt in both runs."""

    base: Record
    new: Record

    @property
    def problem(self) -> str:
        return self.base.problem_id


@dataclass(frozen=True, slots=True)
class Change:
    """A metric of one scope in both runs over the same problems, new minus base for a rate, new over base for a ratio."""

    metric: str  # "pass_rate", "faster_compile", "geomean_vs_compile", ...
    scope: str  # "overall", "level1", ...
    base: float | None
    new: float | None
    change: float | None  # -0.04 is 4 points down, or for a ratio 4 % down
    interval: Interval | None  # of `change`, at LEVEL
    gate_interval: Interval | None  # at the gate's level
    p: float | None  # of rates: exact, two-sided, McNemar's, or its sign-flip form where a problem has several samples
    problems: int  # that the figures are over
    unknown: int  # pairs left out because a side lacks the measurement
    lost: int  # of these, pairs that base measured and new did not
    smallest_seen: float | None  # the smallest drop, as a share, that a gate would see here
    few: int | None = None  # problems that make most of the spread, where they are so few that the intervals are rough

    @property
    def is_rate(self) -> bool:
        return not self.metric.startswith(("geomean", "penalised"))


def by_problem(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.problem, []).append(pair)
    return groups


def samples_of(groups: dict[str, list[Pair]]) -> int:
    return max((len(group) for group in groups.values()), default=0)


# ---- metrics ---------------------------------------------------------------------------------------------------------

Measure = Callable[[Record], float | None]  # of one attempt; None where it is not known


def passed(record: Record) -> float:
    return float(record.status is Status.CORRECT)


def speedup(record: Record, baseline: str) -> float | None:
    """Of a correct and timed attempt, else None."""
    timing = record.verdict.timing if record.verdict is not None else None
    found = timing.speedup(baseline) if timing is not None and record.status is Status.CORRECT else None
    return None if found is None else found.value


def faster(baseline: str) -> Measure:
    def measure(record: Record) -> float | None:
        if record.status is not Status.CORRECT:
            return 0.0
        value = speedup(record, baseline)
        return None if value is None else float(value > 1)

    return measure


def log_speedup(baseline: str, failure: float | None) -> Measure:
    """The log of a correct attempt's speed-up, `failure` for a failed one."""

    def measure(record: Record) -> float | None:
        if record.status is not Status.CORRECT:
            return failure
        value = speedup(record, baseline)
        return None if value is None else math.log(value)

    return measure


def changes(scope: str, pairs: Sequence[Pair], gate_level: float) -> list[Change]:
    mine = [pair for pair in pairs if scope == "overall" or f"level{pair.base.level}" == scope]
    both = [pair for pair in mine if passed(pair.base) and passed(pair.new)]
    found = [_rate_change("pass_rate", scope, mine, passed, gate_level)]
    for name in BASELINES:
        if any(speedup(record, name) is not None for pair in mine for record in (pair.base, pair.new)):
            found += [
                _rate_change(f"faster_{name}", scope, mine, faster(name), gate_level),
                _ratio_change(f"geomean_vs_{name}", scope, both, log_speedup(name, None), gate_level),
                _ratio_change(f"penalised_vs_{name}", scope, mine, log_speedup(name, 0.0), gate_level),
            ]
    return found


def _rate_change(metric: str, scope: str, pairs: Sequence[Pair], measure: Measure, gate_level: float) -> Change:
    groups, unknown, lost = _measured(pairs, measure)
    before, after = [mean(b) for b, _ in groups], [mean(n) for _, n in groups]
    differences = [n - b for b, n in zip(before, after, strict=True)]
    samples = max((len(b) for b, _ in groups), default=1)
    exact = [Fraction(round(sum(n) - sum(b)), len(b)) for b, n in groups]
    return Change(
        metric, scope, mean_or_none(before), mean_or_none(after), mean_or_none(differences),
        rate_difference_interval(differences, samples, LEVEL),
        rate_difference_interval(differences, samples, gate_level),
        sign_flip_p(exact) if exact else None, len(groups), unknown, lost,
        _smallest_rate_drop(differences, samples, gate_level),
    )  # fmt: skip


def _smallest_rate_drop(differences: Sequence[float], samples: int, gate_level: float) -> float | None:
    """By counting problems where each has one sample or hardly any differ; else from how the differences spread."""
    if not differences:
        return None
    if samples > 1 and sum(d != 0 for d in differences) >= SCARCE_EVENTS:
        drop = smallest_seen_mean(differences, gate_level)
        return drop if drop is not None and drop < 1 else None
    gains = round(math.fsum(d for d in differences if d > 0))
    losses = smallest_seen_losses(len(differences), gains, gate_level, samples)
    return None if losses is None else (losses - gains) / len(differences)


def _ratio_change(metric: str, scope: str, pairs: Sequence[Pair], measure: Measure, gate_level: float) -> Change:
    groups, unknown, lost = _measured(pairs, measure)
    before, after = [mean(b) for b, _ in groups], [mean(n) for _, n in groups]
    logs = [n - b for b, n in zip(before, after, strict=True)]
    average = mean_or_none(logs)
    return Change(
        metric, scope, geometric_mean([math.exp(b) for b in before]), geometric_mean([math.exp(n) for n in after]),
        None if average is None else math.exp(average) - 1, _less_one(ratio_interval(logs, LEVEL)),
        _less_one(ratio_interval(logs, gate_level)), None, len(groups), unknown, lost, smallest_seen_drop(logs, gate_level),
        few_that_spread(logs),
    )  # fmt: skip


def _measured(pairs: Sequence[Pair], measure: Measure) -> tuple[list[tuple[list[float], list[float]]], int, int]:
    """Base's and new's values of each problem, of the pairs where both are known; how many pairs were not, and in how many
    of these base was."""
    groups, unknown, lost = [], 0, 0
    for group in by_problem(pairs).values():
        measured = [(measure(pair.base), measure(pair.new)) for pair in group]
        values = [(b, n) for b, n in measured if b is not None and n is not None]
        unknown += len(group) - len(values)
        lost += sum(b is not None and n is None for b, n in measured)
        if values:
            groups.append(([b for b, _ in values], [n for _, n in values]))
    return groups, unknown, lost


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def mean_or_none(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


def _less_one(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(interval.low - 1, interval.high - 1, interval.level)
