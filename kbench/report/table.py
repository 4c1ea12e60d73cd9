"""A run's summary as a table that fits a terminal, and its worst news in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rich import box
from rich.table import Table
from rich.text import Text

from kbench.inert import one_line
from kbench.summary import Estimate, LevelSummary, Summary
from kbench.types import Record, Status
from kbench.words import timing_text

UNKNOWN = "-"


def summary_table(title: str, summary: Summary) -> Table:
    """One column a level and one for all of them; one row a figure. Narrow enough for 80 columns."""
    levels = [*summary.levels, summary.overall] if len(summary.levels) > 1 else list(summary.levels)
    table = Table(title=Text(one_line(title)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for level in levels:
        table.add_column("all levels" if level.level is None else f"level {level.level}", justify="right")
    for name, figure in _figures(summary):
        table.add_row(name, *(figure(level) for level in levels))
    return table


def _figures(summary: Summary) -> Iterator[tuple[str, Callable[[LevelSummary], str]]]:
    yield "problems", lambda level: str(level.problems)
    yield "pass rate", lambda level: percent(level.pass_rate)
    for name in summary.overall.baselines:
        against = summary.overall.baselines[name]
        if against.faster.value is None:
            continue
        yield f"faster than {name}", partial(_against, name, "faster", percent)
        if against.surely_faster.value is not None:
            yield "  interval above 1", partial(_against, name, "surely_faster", percent)
        yield f"times {name}", partial(_against, name, "geomean_correct", factor)
    present = [status for status in Status if summary.overall.statuses.get(status)]
    for status in present:
        yield f"  {status}", partial(_count, status)
    if summary.overall.not_run:
        yield "  not run", lambda level: str(level.not_run)


def _against(baseline: str, name: str, show: Callable[[Estimate], str], level: LevelSummary) -> str:
    return show(getattr(level.baselines[baseline], name))


def _count(status: str, level: LevelSummary) -> str:
    return str(level.statuses.get(status, 0))


def attempts_table(records: Sequence[Record]) -> Table:
    """One row an attempt: status, speed-ups, and the first words of what went wrong."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("attempt", "status", "speed-ups", "what"):
        table.add_column(column, no_wrap=column != "what", overflow="ellipsis" if column == "what" else "fold")
    for record in records:
        timing = record.verdict.timing if record.verdict is not None else None
        note = record.reply.note if record.reply is not None else ""
        message = record.verdict.message if record.verdict is not None else record.not_run or note
        table.add_row(
            Text(one_line(record.key)),
            str(record.status or "not run"),
            timing_text(timing),
            Text(one_line(message, 80)),
        )
    return table


def percent(estimate: Estimate) -> str:
    """The value with its 95 % interval: 67% (21-94)."""
    bounds = estimate.interval
    if estimate.value is None:
        return UNKNOWN
    return f"{estimate.value:.0%}" + (f" ({bounds.low * 100:.0f}-{bounds.high * 100:.0f})" if bounds else "")


def factor(estimate: Estimate) -> str:
    bounds = estimate.interval
    if estimate.value is None:
        return UNKNOWN
    return f"{estimate.value:.2f}x" + (f" ({bounds.low:.2f}-{bounds.high:.2f})" if bounds else "")


def _spent(summary: Summary) -> Iterator[Text]:
    """Tokens and cost, where a model was asked; and how often it refused, which is a result of its own."""
    usage = summary.overall.usage
    if usage.tokens_input is not None or usage.tokens_output is not None:
        amounts = (
            ("in", usage.tokens_input),
            ("out", usage.tokens_output),
            ("of them reasoning", usage.tokens_reasoning),
        )
        told = ", ".join(f"{amount:,} {word}" for word, amount in amounts if amount is not None)
        cost = "cost not known" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        yield Text(f"tokens: {told}; {cost}")
    for level in summary.levels:
        refused = level.statuses.get(Status.REFUSED, 0)
        if refused:
            rate = percent(level.refusal_rate)
            yield Text(
                f"level {level.level}: {refused} of {level.attempts} attempts were refused: {rate}; the replies are kept",
                "yellow",
            )


def noise_remark(records: Sequence[Record]) -> Iterator[Text]:
    """How many of the times were taken on a machine that something disturbed."""
    timed = [r.verdict.timing for r in records if r.verdict is not None and r.verdict.timing is not None]
    noisy = sum("noisy" in timing.flags for timing in timed)
    if noisy:
        yield Text(
            f"noisy: {noisy} of {len(timed)} timings were disturbed by something else on this machine; their speed-ups say little",
            "yellow",
        )


def remarks(summary: Summary) -> Iterator[Text]:
    """What a table cannot show: what was not run, what is missing, what is still to be made."""
    for problem, reason in summary.not_run.items():
        yield Text(one_line(f"not run: {problem}: {reason}"), "yellow")
    for level in summary.levels:
        for k, estimate in level.pass_at_k.items():
            value = UNKNOWN if estimate.value is None else f"{estimate.value:.3g}"
            yield Text(f"level {level.level} pass@{k}: {value}{f' ({estimate.note})' if estimate.note else ''}")
    yield from _spent(summary)
    if summary.missing:
        yield Text(
            f"missing: {len(summary.missing)} attempts are not recorded (not made yet, or without a reply): "
            f"{', '.join(summary.missing[:8])}", "yellow",
        )  # fmt: skip
    if summary.incomplete:
        yield Text(
            f"incomplete: {len(summary.incomplete)} attempts ended in infrastructure errors; run the same command again: "
            f"{', '.join(summary.incomplete[:8])}", "red",
        )  # fmt: skip
