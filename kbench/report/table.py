"""A run's summary as a table that fits a terminal, and its worst news in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from kbench.summary import Estimate, LevelSummary, Summary

UNKNOWN = "-"


def summary_table(title: str, summary: Summary) -> Table:
    """One row a level, and all of them together where there are several."""
    table = Table(title=title, title_justify="left", title_style="bold")
    baselines = list(summary.overall.baselines)
    columns = [
        "level",
        "problems",
        "pass rate",
        *(f"faster than {b}" for b in baselines),
        *(f"x {b} (correct)" for b in baselines),
        "statuses",
    ]
    for column in columns:
        table.add_column(column, justify="left" if column in ("level", "statuses") else "right")
    rows = [*summary.levels, summary.overall] if len(summary.levels) > 1 else summary.levels
    for level in rows:
        table.add_row(*_row(level, baselines), end_section=level is summary.levels[-1])
    return table


def _row(level: LevelSummary, baselines: list[str]) -> Iterator[str]:
    yield "all" if level.level is None else str(level.level)
    yield str(level.problems)
    yield percent(level.pass_rate)
    for name in baselines:
        yield percent(level.baselines[name].faster)
    for name in baselines:
        yield factor(level.baselines[name].geomean_correct)
    told = [f"{count} {status}" for status, count in level.statuses.items() if count]
    told += [f"{level.not_run} not run"] if level.not_run else []
    yield ", ".join(told) or UNKNOWN


def percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return UNKNOWN
    bounds = estimate.interval
    return f"{estimate.value:.0%}" + (f" [{bounds.low:.0%}, {bounds.high:.0%}]" if bounds else "")


def factor(estimate: Estimate) -> str:
    if estimate.value is None:
        return UNKNOWN
    bounds = estimate.interval
    return f"{estimate.value:.3g}" + (f" [{bounds.low:.3g}, {bounds.high:.3g}]" if bounds else "")


def remarks(summary: Summary) -> Iterator[Text]:
    """What a table cannot show: what was not run, what is missing, what is still to be made."""
    for problem, reason in summary.not_run.items():
        yield Text(f"not run: {problem}: {reason}", "yellow")
    for level in summary.levels:
        for k, estimate in level.pass_at_k.items():
            value = UNKNOWN if estimate.value is None else f"{estimate.value:.3g}"
            yield Text(f"level {level.level} pass@{k}: {value}{f' ({estimate.note})' if estimate.note else ''}")
    if summary.missing:
        yield Text(
            f"missing: {len(summary.missing)} attempts have no reply: {', '.join(summary.missing[:8])}", "yellow"
        )
    if summary.incomplete:
        yield Text(
            f"incomplete: {len(summary.incomplete)} attempts ended in infrastructure errors; run the same command again: "
            f"{', '.join(summary.incomplete[:8])}", "red",
        )  # fmt: skip
