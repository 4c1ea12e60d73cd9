"""A comparison for people: as text on a terminal and as Markdown for a pull request. Both show the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kbench.changes import Change
from kbench.comparison import Comparison, Flip
from kbench.gates import NAMED, Ruling
from kbench.report.markdown import escape, table

COLUMNS = ("", "base", "new", "change (95 %)", "exact p", "problems", "a gate would see")
FLIPS_SHOWN = 40
UNKNOWN = "-"


def as_text(comparison: Comparison, rulings: Sequence[Ruling]) -> Iterator[str]:
    """Lines for a terminal; the rules last, where a reader looks first."""
    yield f"base  {comparison.base}  ({comparison.base_model})"
    yield f"new   {comparison.new}  ({comparison.new_model})"
    yield f"cell  {comparison.cell.title}"
    yield from (f"NOTE  the runs differ: {difference}" for difference in comparison.cells_differ)
    yield f"pairs {_pairs(comparison)}"
    yield ""
    yield from _aligned([COLUMNS, *rows(comparison)])
    for kind, flips in groups(comparison.flips):
        yield f"\n{kind}: {len(flips)}"
        yield from (f"  {_attempt(f, comparison)}: {f.base} -> {f.new}" for f in flips[:FLIPS_SHOWN])
        if len(flips) > FLIPS_SHOWN:
            yield f"  and {len(flips) - FLIPS_SHOWN} more (--json has them all)"
    yield ""
    yield power(comparison)
    for ruling in rulings:
        yield f"{word(ruling)}: {ruling.rule.text}: {ruling.sentence}"


def as_markdown(comparison: Comparison, rulings: Sequence[Ruling]) -> str:
    lines = [f"## kbench: {escape(comparison.new)} against {escape(comparison.base)}", ""]
    lines += [f"- **{word(r)}** {escape(r.rule.text)}: {escape(r.sentence)}" for r in rulings]
    lines += [f"- **note** the runs differ: {escape(difference)}" for difference in comparison.cells_differ]
    lines += ["", f"{escape(_pairs(comparison))} {escape(comparison.cell.title)}.", ""]
    lines += [*table(COLUMNS, rows(comparison)), "", escape(power(comparison)), ""]
    for kind, flips in groups(comparison.flips):
        lines += [f"<details><summary>{kind}: {len(flips)}</summary>", ""]
        body = [(_attempt(f, comparison), f.base, f.new) for f in flips[:FLIPS_SHOWN]]
        lines += [*table(("attempt", "base", "new"), body), "", "</details>", ""]
    return "\n".join(lines)


def word(ruling: Ruling) -> str:
    return {True: "FAIL", False: "ok", None: "UNKNOWN"}[ruling.fired]


def rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """One row a metric, and where there are several levels one a level of the chief metrics; JSON has them all."""
    scopes = {change.scope for change in comparison.changes}
    for change in comparison.changes:
        if change.scope == "overall" or (len(scopes) > 2 and change.metric in CHIEF):
            yield _row(change)


def _row(change: Change) -> tuple[str, ...]:
    name = change.metric.replace("_", " ") + ("" if change.scope == "overall" else f", {change.scope}")
    over = str(change.problems) + (f" ({change.unknown} unknown)" if change.unknown else "")
    p = UNKNOWN if change.p is None else f"{change.p:.3f}"
    seen = UNKNOWN if change.smallest_seen is None else f"-{change.smallest_seen:.1%}"
    return name, _value(change, change.base), _value(change, change.new), _moved(change), p, over, seen


def _value(change: Change, value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.1%}" if change.is_rate else f"{value:.3f}x"


def _moved(change: Change) -> str:
    if change.change is None:
        return UNKNOWN
    bounds = change.interval
    span = f" ({bounds.low * 100:+.1f} to {bounds.high * 100:+.1f})" if bounds is not None else ""
    return f"{change.change * 100:+.1f}{'' if change.is_rate else ' %'}{span}"


def _pairs(comparison: Comparison) -> str:
    text = f"{comparison.pairs} attempts at {comparison.problems} problems, paired."
    if comparison.unpaired:
        shown = ", ".join(comparison.unpaired[:NAMED])
        text += f" {len(comparison.unpaired)} have no scored partner: {shown}."
    if comparison.not_run:
        text += f" {len(comparison.not_run)} fit the device of neither run."
    return text


def power(comparison: Comparison) -> str:
    """What a gate would have seen: without it, "no change" and "no evidence" look alike."""
    seen = [
        f"a drop of {change.metric.replace('_', ' ')} by {change.smallest_seen * 100:.1f}{' points' if change.is_rate else ' %'}"
        for change in comparison.changes
        if change.scope == "overall" and change.smallest_seen is not None and change.metric in POWER_METRICS
    ]
    head = f"Power: with {comparison.problems} problems and this noise, a gate at {100 * comparison.gate_level:g}% would see "
    return head + (", ".join(seen) + "; nothing smaller." if seen else "no drop at all: too few problems.")


CHIEF = ("pass_rate", "faster_compile", "geomean_vs_compile")
POWER_METRICS = ("pass_rate", "faster_compile", "geomean_vs_compile", "faster_eager", "geomean_vs_eager")


def groups(flips: Sequence[Flip]) -> Iterator[tuple[str, list[Flip]]]:
    for kind in dict.fromkeys(flip.kind for flip in flips):
        yield kind, [flip for flip in flips if flip.kind == kind]


def _attempt(flip: Flip, comparison: Comparison) -> str:
    return flip.problem if comparison.samples == 1 else f"{flip.problem}#{flip.sample}"


def _aligned(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        first, *others = (
            f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others])
