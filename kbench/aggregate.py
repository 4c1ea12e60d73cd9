"""Records to a Summary. A pure function of its arguments: the same records give the same figures on any machine.

The problem is the unit: a figure is a mean over problems of one value a problem, and its interval comes from how
problems differ, so that many samples of few problems do not look like much evidence. Not covered: where a record's
status and speed-ups come from (referee).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kbench.errors import SchemaError
from kbench.spending import usage
from kbench.stats import best_at_k, few_that_spread, geometric_mean, geometric_mean_interval, pass_at_k, rate_interval
from kbench.summary import AgainstBaseline, Estimate, LevelSummary, ProblemSummary, Summary, Usage
from kbench.types import Interval, Record, Speedup, Status, attempt_key
from kbench.words import rough

BASELINES = ("eager", "compile")
FAST_P = ("0", "0.5", "0.8", "1", "1.05", "1.5", "2")


def summarise(records: Iterable[Record], problems_expected: Sequence[str], samples: int) -> Summary:
    """The figures of a run over the problems that were asked for, `samples` attempts at each.

    `records` in the order written, superseded ones included: the last of an attempt counts, all of them cost.
    `problems_expected` are ids, in the order to list them. SchemaError for a record of another problem.
    """
    everything = list(records)
    of_problem: dict[str, list[Record]] = {problem: [] for problem in problems_expected}
    for record in {record.key: record for record in everything}.values():
        if record.problem_id not in of_problem:
            raise SchemaError(f"attempt {record.key} is of a problem that this run did not ask for")
        of_problem[record.problem_id].append(record)
    figures = [_figures(problem, of_problem[problem], _ks(samples)) for problem in problems_expected]
    levels = sorted({figure.level for figure in figures})
    with_intervals = {name for figure in figures for name, a in figure.against.items() if a.with_interval}

    def summary_of(level: int | None) -> LevelSummary:
        members = [figure for figure in figures if level in (None, figure.level)]
        return _level(level, members, samples, with_intervals, usage(everything, level))

    of_levels = tuple(summary_of(level) for level in levels)
    return Summary(
        run_id=everything[0].run_id if everything else "",
        samples=samples,
        levels=of_levels,
        overall=_weighing_levels(summary_of(None), of_levels),
        problems=tuple(_problem(figure) for figure in figures),
        not_run={figure.problem: figure.not_run for figure in figures if figure.not_run is not None},
        incomplete=tuple(key for figure in figures for key in figure.infra_errors),
        missing=tuple(key for figure in figures for key in _missing(figure, of_problem[figure.problem], samples)),
    )


# ---- one problem -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Against:
    """One problem's attempts against one baseline; the shares are of its scored attempts."""

    unknown: int  # correct attempts without a speed-up
    with_interval: int
    fast: dict[str, float]
    surely: float
    best: float | None
    geomean_correct: float | None
    geomean_penalised: float | None
    best_at_k: dict[int, float | None]


@dataclass(frozen=True, slots=True)
class _Figures:
    """One problem. Without a scored attempt it has no `against` and enters no figure."""

    problem: str
    level: int
    statuses: Counter[Status]
    exempt: int
    scored: int
    pass_at_k: dict[int, float | None]
    against: dict[str, _Against]
    infra_errors: tuple[str, ...]
    not_run: str | None

    def share(self, status: Status) -> float | None:
        return self.statuses[status] / self.scored if self.scored else None


def _figures(problem: str, records: Sequence[Record], ks: Sequence[int]) -> _Figures:
    statuses = Counter(record.status for record in records if record.status is not None)
    scored = [record for record in records if record.status not in (None, Status.INFRA_ERROR)]
    return _Figures(
        problem=problem,
        level=_level_of(problem),
        statuses=statuses,
        exempt=sum(record.exempt for record in records),
        scored=len(scored),
        pass_at_k={k: pass_at_k(len(scored), statuses[Status.CORRECT], k) for k in ks},
        against={baseline: _against(baseline, scored, ks) for baseline in BASELINES} if scored else {},
        infra_errors=tuple(record.key for record in records if record.status is Status.INFRA_ERROR),
        not_run=next((record.not_run for record in records if record.not_run is not None), None),
    )


def _against(baseline: str, scored: Sequence[Record], ks: Sequence[int]) -> _Against:
    correct = [record for record in scored if record.status is Status.CORRECT]
    speedups = [s for record in correct if (s := _speedup(record, baseline)) is not None]
    values = [speedup.value for speedup in speedups]
    penalised = values + [1.0] * (len(scored) - len(correct))
    complete = len(values) == len(correct)
    fast = {p: sum(value > float(p) for value in values) / len(scored) for p in FAST_P}
    # Any correct attempt is faster than nothing, measured or not.
    fast["0"] = len(correct) / len(scored)
    logs = [math.log(value) for value in penalised]
    bests = {k: best_at_k(logs, k) if complete else None for k in ks}
    return _Against(
        unknown=len(correct) - len(values),
        with_interval=sum(speedup.interval is not None for speedup in speedups),
        fast=fast,
        surely=sum(speedup.surely_faster is True for speedup in speedups) / len(scored),
        best=max(values, default=None),
        geomean_correct=geometric_mean(values),
        geomean_penalised=geometric_mean(penalised),
        best_at_k={k: None if best is None else math.exp(best) for k, best in bests.items()},
    )


def _speedup(record: Record, baseline: str) -> Speedup | None:
    timing = record.verdict.timing if record.verdict is not None else None
    return None if timing is None else timing.speedup(baseline)


def _problem(figure: _Figures) -> ProblemSummary:
    return ProblemSummary(
        id=figure.problem,
        level=figure.level,
        scored=figure.scored,
        correct=figure.statuses[Status.CORRECT],
        statuses={str(status): count for status, count in figure.statuses.items()},
        pass_at_k={str(k): value for k, value in figure.pass_at_k.items()},
        best_speedup={b: figure.against[b].best if b in figure.against else None for b in BASELINES},
        not_run=figure.not_run,
    )


def _missing(figure: _Figures, records: Sequence[Record], samples: int) -> list[str]:
    """The attempts without a record, by the sample numbers that are free; none where the problem is not run at all."""
    if figure.not_run is not None:
        return []
    there = {record.sample for record in records}
    free = [sample for sample in range(samples) if sample not in there]
    return [attempt_key(figure.problem, sample) for sample in free[: max(0, samples - len(records))]]


# ---- one level, or all -----------------------------------------------------------------------------------------------


def _level(
    level: int | None, members: Sequence[_Figures], samples: int, with_intervals: set[str], usage: Usage
) -> LevelSummary:
    counts: Counter[Status] = Counter()
    for figure in members:
        counts.update(figure.statuses)
    ks = _ks(samples)
    return LevelSummary(
        level=level,
        problems=len(members),
        attempts=counts.total(),
        attempts_expected=len(members) * samples,
        statuses={str(status): counts[status] for status in Status},
        not_run=sum(figure.not_run is not None for figure in members),
        exempt=sum(figure.exempt for figure in members),
        pass_rate=_rate([figure.share(Status.CORRECT) for figure in members], samples),
        refusal_rate=_rate([figure.share(Status.REFUSED) for figure in members], samples),
        pass_at_k={str(k): _rate([figure.pass_at_k[k] for figure in members], samples) for k in ks},
        baselines={b: _baseline(b, members, samples, b in with_intervals) for b in BASELINES},
        usage=usage,
    )


def _baseline(baseline: str, members: Sequence[_Figures], samples: int, has_intervals: bool) -> AgainstBaseline:
    against = [figure.against.get(baseline) for figure in members]
    correct = sum(figure.statuses[Status.CORRECT] for figure in members)
    unknown = sum(a.unknown for a in against if a is not None)
    uncertain = correct - sum(a.with_interval for a in against if a is not None)
    untimed = 0 < correct == unknown  # nothing here was timed: then nothing is known, and 0 would be a claim

    def each(figure_of: Callable[[_Against], float | None]) -> list[float | None]:
        return [None if a is None else figure_of(a) for a in against]

    def fast(p: str) -> Estimate:
        return _rate([None] * len(against) if untimed and p != "0" else each(lambda a: a.fast[p]), samples, unknown)

    def best(k: int) -> Estimate:
        return _geomean(each(lambda a: a.best_at_k[k]), unknown)

    return AgainstBaseline(
        faster=fast("1"),
        surely_faster=_rate(each(lambda a: a.surely if has_intervals else None), samples, uncertain),
        fast_p={p: fast(p) for p in FAST_P},
        geomean_correct=_geomean(each(lambda a: a.geomean_correct), unknown),
        geomean_penalised=_geomean(each(lambda a: None if untimed else a.geomean_penalised), unknown),
        best_at_k={str(k): best(k) for k in _ks(samples)},
    )


def _weighing_levels(overall: LevelSummary, levels: Sequence[LevelSummary]) -> LevelSummary:
    """`overall` with the geometric mean over levels, each weighing its number of problems."""
    baselines = {
        name: replace(against, geomean_by_level=geomean_by_level([level.problems for level in levels],
                      [level.baselines[name].geomean_correct for level in levels]))
        for name, against in overall.baselines.items()
    }  # fmt: skip
    return replace(overall, baselines=baselines)


def geomean_by_level(problems: Sequence[int], levels: Sequence[Estimate]) -> Estimate:
    """The weighted geometric mean of the levels' means; unknown where one of them is. Levels are independent, so the
    squares of their intervals' half-widths add up."""
    over, of = sum(level.over for level in levels), sum(level.of for level in levels)
    values = [level.value for level in levels if level.value is not None]
    total = sum(problems)
    if len(values) < len(levels) or not total:
        return Estimate(None, None, over, of, note="a level without a correct and timed solution")
    weights = [count / total for count in problems]
    mean = math.fsum(w * math.log(value) for w, value in zip(weights, values, strict=True))
    bounds = [level.interval for level in levels if level.interval is not None]
    interval = None
    if len(bounds) == len(levels):
        halves = [w * math.log(b.high / b.low) / 2 for w, b in zip(weights, bounds, strict=True)]
        half = math.hypot(*halves)
        interval = Interval(math.exp(mean - half), math.exp(mean + half)) if half < math.inf else None
    return Estimate(math.exp(mean), interval, over, of, sum(level.unknown for level in levels))


def _rate(values: Sequence[float | None], samples: int, unknown: int = 0) -> Estimate:
    def interval(known: Sequence[float]) -> Interval | None:
        return rate_interval(known, samples)

    return _estimate(values, unknown, lambda known: math.fsum(known) / len(known) if known else None, interval)


def _geomean(values: Sequence[float | None], unknown: int) -> Estimate:
    found = _estimate(values, unknown, geometric_mean, geometric_mean_interval)
    few = few_that_spread([math.log(value) for value in values if value is not None])
    return found if few is None else replace(found, note="; ".join(filter(None, (found.note, rough(few)))))


def _estimate(
    values: Sequence[float | None],
    unknown: int,
    mean: Callable[[Sequence[float]], float | None],
    interval: Callable[[Sequence[float]], Interval | None],
) -> Estimate:
    known = [value for value in values if value is not None]
    notes = [f"over {len(known)} of {len(values)} problems"] if len(known) < len(values) else []
    notes += [f"{unknown} correct without this measurement"] if unknown else []
    return Estimate(mean(known), interval(known), len(known), len(values), unknown, "; ".join(notes))


def _ks(samples: int) -> list[int]:
    """The k of pass@k and best@k: powers of two and the number of samples itself; none for a single sample."""
    return [] if samples < 2 else [*(2**i for i in range((samples - 1).bit_length())), samples]


def _level_of(problem: str) -> int:
    """2 of "level2/070_x". SchemaError for an id of no level: a run that came from elsewhere may hold anything."""
    level = problem.partition("/")[0].removeprefix("level")
    if not (level.isascii() and level.isdecimal()):
        raise SchemaError(f"problem {problem[:80]!r} is of no level; ids are level1/NAME")
    return int(level)
