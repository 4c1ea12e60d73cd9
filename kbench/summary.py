"""What a run comes to: the figures of each level, of all levels and of each problem. summary.json and summary.csv."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kbench.codec import decode
from kbench.errors import ConfigError, SchemaError
from kbench.files import csv_text, json_text, read_json, write_atomic
from kbench.types import SCHEMA_VERSION, Interval

COLUMNS = (
    "run_id", "scope", "metric", "baseline", "parameter", "value", "low", "high", "over", "of", "unknown", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over problems, with its 95 % interval. `value` is None where it is not known, which is not 0."""

    value: float | None
    interval: Interval | None
    over: int  # problems that it is over
    of: int  # problems that were asked for
    unknown: int = 0  # correct attempts without the measurement: not counted as faster, left out of a mean
    note: str = ""  # "over 2 of 3 problems", "2 attempts unknown"; empty where there is nothing to add


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """Speed-ups over eager or over compile. A failure is never faster, and counts as 1.0 where `penalised`."""

    faster: Estimate  # share of attempts, correct and with a speed-up > 1
    surely_faster: Estimate  # and with the whole interval above 1; None where no attempt of the run has an interval
    fast_p: dict[str, Estimate]  # "1.05" -> share of attempts, correct and with a speed-up > 1.05
    geomean_correct: Estimate  # correct solutions only
    geomean_penalised: Estimate  # every attempt, failures at 1.0
    best_at_k: dict[str, Estimate]  # geometric mean of the expected best of k attempts, failures at 1.0
    # Correct solutions only, each level's geometric mean weighing as many problems as the level has, solved or not: the
    # "overall" of arXiv 2602.24286. `geomean_correct` pools the solved problems instead, and is higher where hard levels fail.
    geomean_by_level: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent, on attempts made again too. None where a single reply's is unknown, or no model was asked."""

    tokens_input: int | None
    tokens_output: int | None
    tokens_reasoning: int | None
    tokens_cached: int | None
    cost_usd: float | None
    wall_time_s: float | None  # during which at least one attempt was under way; a pause between two runs is none


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """One level, or all of them where `level` is None: each problem weighs the same, so a level by its problems.

    A rate is the mean over problems of the share of a problem's scored attempts.
    """

    level: int | None
    problems: int  # asked for
    attempts: int  # with a status; infrastructure errors among them are not scored
    attempts_expected: int
    statuses: dict[str, int]  # every status, also those that did not occur
    not_run: int  # problems that need more than the device has
    exempt: int  # attempts that are baselines, judged as candidates
    pass_rate: Estimate
    refusal_rate: Estimate
    pass_at_k: dict[str, Estimate]  # empty where one sample a problem was asked for
    baselines: dict[str, AgainstBaseline]
    usage: Usage


@dataclass(frozen=True, slots=True)
class ProblemSummary:
    id: str
    level: int
    scored: int
    correct: int
    statuses: dict[str, int]  # those that occurred
    pass_at_k: dict[str, float | None]  # None where there are fewer scored attempts than k
    best_speedup: dict[str, float | None]  # baseline -> the best correct attempt's
    not_run: str | None


@dataclass(frozen=True, slots=True)
class Summary:
    run_id: str
    samples: int
    levels: tuple[LevelSummary, ...]
    overall: LevelSummary
    problems: tuple[ProblemSummary, ...]
    not_run: dict[str, str]  # problem id -> why
    incomplete: tuple[str, ...]  # attempts whose last record is an infrastructure error
    missing: tuple[str, ...]  # attempts asked for and not recorded
    schema: int = SCHEMA_VERSION

    @property
    def complete(self) -> bool:
        return not self.incomplete and not self.missing


def write_summary(folder: Path, summary: Summary) -> None:
    """summary.json and summary.csv, each replaced as a whole."""
    write_atomic(folder / "summary.json", json_text(summary, indent=2) + "\n")
    write_atomic(folder / "summary.csv", summary_csv(summary))


def read_summary(folder: Path) -> Summary:
    path = folder / "summary.json"
    try:
        value = read_json(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{folder}: no summary here (it has no {path.name})") from error
    if isinstance(value, dict) and isinstance(value.get("schema"), int) and value["schema"] > SCHEMA_VERSION:
        raise SchemaError(f"{path}: written with schema {value['schema']}, this kbench reads up to {SCHEMA_VERSION}")
    return decode(Summary, value)


def summary_csv(summary: Summary) -> str:
    """One figure a row, so that a figure more is a row more. Unknown is an empty cell."""
    scopes = [("overall" if level.level is None else f"level{level.level}", level)
              for level in (*summary.levels, summary.overall)]  # fmt: skip
    rows = ({"run_id": summary.run_id, "scope": scope, **row} for scope, level in scopes for row in _rows(level))
    return csv_text(COLUMNS, rows)


def _rows(level: LevelSummary) -> Iterator[dict[str, object]]:
    for name in ("problems", "attempts", "attempts_expected", "not_run", "exempt"):
        yield {"metric": name, "value": getattr(level, name)}
    for status, count in level.statuses.items():
        yield {"metric": "status", "parameter": status, "value": count}
    yield _row("pass_rate", level.pass_rate)
    yield _row("refusal_rate", level.refusal_rate)
    for k, estimate in level.pass_at_k.items():
        yield _row("pass_at_k", estimate, parameter=k)
    for baseline, against in level.baselines.items():
        for name in ("faster", "surely_faster", "geomean_correct", "geomean_penalised", "geomean_by_level"):
            estimate = getattr(against, name)
            if estimate is not None:
                yield _row(name, estimate, baseline)
        for p, estimate in against.fast_p.items():
            yield _row("fast_p", estimate, baseline, p)
        for k, estimate in against.best_at_k.items():
            yield _row("best_at_k", estimate, baseline, k)
    for name in Usage.__slots__:
        value = getattr(level.usage, name)
        yield {"metric": name, "value": "" if value is None else value}


def _row(metric: str, estimate: Estimate, baseline: str = "", parameter: str = "") -> dict[str, object]:
    interval = estimate.interval
    return {
        "metric": metric,
        "baseline": baseline,
        "parameter": parameter,
        "value": "" if estimate.value is None else estimate.value,
        "low": "" if interval is None else interval.low,
        "high": "" if interval is None else interval.high,
        "over": estimate.over,
        "of": estimate.of,
        "unknown": estimate.unknown,
        "note": estimate.note,
    }
