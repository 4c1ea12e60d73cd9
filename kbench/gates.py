"""Rules that a comparison must keep: `pass_rate:-2%`, `geomean_vs_compile:-3%:point`, `any-new-failure`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbench.aggregate import BASELINES
from kbench.changes import Change
from kbench.comparison import Comparison
from kbench.errors import ConfigError
from kbench.words import rough

METRICS = (
    "pass_rate",
    *(f"{kind}{name}" for kind in ("faster_", "geomean_vs_", "penalised_vs_") for name in BASELINES),
)
NEW_FAILURE = "any-new-failure"
RULE = re.compile(r"(?P<metric>[a-z_]+)(?::(?P<drop>-?\d+(?:\.\d+)?)%)?(?P<point>:point)?")
MUCH = 100.0  # times as much: from here on digits say nothing
NAMED = 8  # problems that a sentence names


@dataclass(frozen=True, slots=True)
class Rule:
    """`allowed` is the drop that is tolerated, as a share: 0.02 is 2 points of a rate, or 2 % of a ratio."""

    text: str
    metric: str
    allowed: float = 0.0
    point: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of a rule. `fired` is None where the runs do not say: that is never a pass."""

    rule: Rule
    fired: bool | None
    sentence: str


def parse_rule(text: str) -> Rule:
    """ConfigError says what a rule looks like."""
    if text == NEW_FAILURE:
        return Rule(text, NEW_FAILURE)
    match = RULE.fullmatch(text)
    if match is None and "-" in text and RULE.fullmatch(f"{text}%"):
        raise ConfigError(f"--fail-on {text!r}: the drop is in per cent; write {text}%")
    if match is None or match["metric"] not in METRICS:
        raise ConfigError(f"--fail-on {text!r}: give METRIC[:-N%][:point] with {', '.join(METRICS)}; or {NEW_FAILURE}")
    drop = float(match["drop"] or 0)
    if drop > 0:
        raise ConfigError(
            f"--fail-on {text!r}: a drop is written with a minus, as in {match['metric']}:-{match['drop']}%"
        )
    if drop <= -100:
        raise ConfigError(f"--fail-on {text!r}: nothing falls by so much; give the drop that is tolerated, as in -2%")
    return Rule(text, match["metric"], -drop / 100, match["point"] is not None)


def judge(rule: Rule, comparison: Comparison) -> Ruling:
    """Fires where the drop reaches what is allowed and, without `:point`, its interval lies below zero."""
    if rule.metric == NEW_FAILURE:
        return _new_failure(rule, comparison)
    change = comparison.change(rule.metric)
    if change is None or change.change is None:
        return Ruling(rule, None, f"{rule.metric} is not known in both runs, so {rule.text} cannot be answered")
    reached = change.change < 0 and change.change <= -rule.allowed + 1e-12
    interval = change.gate_interval
    if interval is None and not rule.point:
        return Ruling(
            rule, None, f"{rule.metric} has no interval over {change.problems} problem(s); use {rule.text}:point"
        )
    fired = reached and (rule.point or (interval is not None and interval.high < 0))
    sentence = _sentence(rule, change, comparison, fired)
    if change.lost and not fired:
        return Ruling(
            rule,
            None,
            f"{sentence}; but {change.lost} attempts that {comparison.base} measured have no figure in {comparison.new}",
        )
    return Ruling(rule, fired, sentence)


def _new_failure(rule: Rule, comparison: Comparison) -> Ruling:
    lost = comparison.lost_problems
    if not comparison.pairs:
        return Ruling(rule, None, f"no attempt stands in both runs, so {rule.text} cannot be answered")
    if not lost:
        return Ruling(rule, False, f"each of the problems that {comparison.base} solves is solved by {comparison.new}")
    return Ruling(rule, True, f"{len(lost)} of {comparison.problems} problems are solved by {comparison.base} and not by "
                  f"{comparison.new}: {names(lost)}")  # fmt: skip


def _sentence(rule: Rule, change: Change, comparison: Comparison, fired: bool) -> str:
    what = f"{rule.metric} {moved(change)}"
    interval = change.gate_interval
    if interval is not None:
        what += f"; {100 * interval.level:g}% interval {span(change)}"
        what += f" ({rough(change.few)})" if change.few is not None else ""
    what += f"; allowed: {_amount(change, -rule.allowed) if rule.allowed else 'no drop'}"
    if fired:
        return f"{what}. {_culprits(change, comparison)}"
    if change.change is not None and change.change < 0 and change.change <= -rule.allowed:
        return f"{what}. The interval reaches zero: this may be chance"
    return what


def moved(change: Change) -> str:
    """ "fell by 4.0 points, from 96.0 % to 92.0 %"; "fell by 3.1 %, from 1.52x to 1.47x"."""
    assert change.change is not None
    if change.change == 0:
        return "is unchanged"
    word = "fell" if change.change < 0 else "rose"
    values = [f"{v:.1%}" if change.is_rate else f"{v:.3g}x" for v in (change.base, change.new) if v is not None]
    return f"{word} by {_amount(change, abs(change.change))}, from {' to '.join(values)}"


def span(change: Change) -> str:
    interval = change.gate_interval
    assert interval is not None
    return f"{_amount(change, interval.low)} to {_amount(change, interval.high)}"


def _amount(change: Change, value: float) -> str:
    amount = f"{value * 100:.1f}" if abs(value) < MUCH else f"{value * 100:.3g}"
    return f"{amount} {'points' if change.is_rate else '%'}"


def _culprits(change: Change, comparison: Comparison) -> str:
    """Which problems did it."""
    failing = [flip.problem for flip in comparison.flips if flip.kind == "newly failing"]
    if change.metric == "pass_rate":
        return f"Newly failing: {names(failing)}"
    baseline = change.metric.rpartition("_")[2]
    if change.is_rate:
        kinds = ("newly failing", f"no longer faster than {baseline}")
        return f"No longer faster: {names([flip.problem for flip in comparison.flips if flip.kind in kinds])}"
    slower = [m for m in comparison.movements if m.baseline == baseline and m.ratio < 1]
    first = f"Newly failing: {names(failing)}. " if change.metric.startswith("penalised") and failing else ""
    return first + "Slowest against before: " + names([f"{m.problem} ({m.base:.3g}x to {m.new:.3g}x)" for m in slower])


def names(problems: Sequence[str]) -> str:
    unique = list(dict.fromkeys(problems))
    more = f" and {len(unique) - NAMED} more" if len(unique) > NAMED else ""
    return (", ".join(unique[:NAMED]) or "none") + more
