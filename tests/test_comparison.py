"""Two runs against each other: pairing, figures by hand, refusals, and the gate's behaviour on planted changes."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbench.cell import cell_of, differing
from kbench.comparison import Comparison, compare, said
from kbench.errors import ConfigError
from kbench.gates import METRICS, judge, parse_rule
from kbench.store import Run
from kbench.types import Record, Status

from .making import info, record

PROBLEMS = 50
RULES = ("pass_rate:-2%", "faster_compile:-5%", "geomean_vs_compile:-1%", "geomean_vs_compile", "any-new-failure")


def name(i: int) -> str:
    return f"level1/{i}_p"


def run(records: list[Record], run_id: str = "base", **more: Any) -> Run:
    problems = more.pop("problems", {r.problem_id: "hash" for r in records})
    return Run(Path("nowhere"), info(run_id=run_id, problems=problems, **more), tuple(records))


def solved(speeds: np.ndarray | list[float], failing: tuple[int, ...] = ()) -> list[Record]:
    return [
        record(name(i), Status.INCORRECT) if i in failing else record(name(i), eager=speed * 1.2, compiled=speed)
        for i, speed in enumerate(speeds)
    ]


def fired(comparison: Comparison, rules: tuple[str, ...] = RULES) -> list[str]:
    return [rule for rule in rules if judge(parse_rule(rule), comparison).fired]


def speeds_of_a_model(seed: int) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0.2, 0.4, PROBLEMS))


# ---- figures -----------------------------------------------------------------------------------------------------------


def test_figures_of_a_small_comparison_are_those_worked_out_by_hand() -> None:
    base = solved([1.2, 0.9, 2.0, 1.5], failing=(3,))
    new = solved([1.5, 1.1, 2.0, 1.5], failing=(2,))
    found = compare(run(base), run(new, "new"))
    passing, fast = found.change("pass_rate"), found.change("faster_compile")
    geomean = found.change("geomean_vs_compile")
    assert passing is not None
    assert fast is not None
    assert geomean is not None
    assert (passing.base, passing.new, passing.change, passing.p) == (0.75, 0.75, 0.0, 1.0)
    assert (fast.base, fast.new) == (0.5, 0.75)
    # Solved in both: the first two problems. sqrt(1.5 / 1.2 * 1.1 / 0.9) - 1
    assert geomean.change == pytest.approx(math.sqrt(1.25 * 1.1 / 0.9) - 1)
    assert geomean.problems == 2
    assert [(f.kind, f.problem) for f in found.flips] == [
        ("newly failing", name(2)),
        ("newly passing", name(3)),
        ("now faster than compile", name(1)),
    ]


def test_a_flip_carries_both_verdicts() -> None:
    [flip] = compare(run(solved([1.5])), run(solved([1.5], failing=(0,)), "new")).flips
    assert flip.base == "correct, 1.8x eager, 1.5x compile"
    assert flip.new == "incorrect: it was incorrect"


def test_several_samples_count_once_a_problem() -> None:
    def records(right: tuple[int, ...]) -> list[Record]:
        return [
            record(name(p), Status.CORRECT if s < right[p] else Status.TIMEOUT, s) for p in (0, 1) for s in range(4)
        ]

    found = compare(run(records((4, 2)), samples=4), run(records((3, 1)), "new", samples=4))
    change = found.change("pass_rate")
    assert change is not None
    assert (change.base, change.new, change.change) == (0.75, 0.5, -0.25)
    # Two differences of one quarter each: of the four sign patterns, the two with equal signs reach this far.
    assert change.p == pytest.approx(0.5)
    assert found.samples == 4


def test_a_correct_attempt_without_a_time_is_left_out_and_counted() -> None:
    base = [record(name(0), eager=1.5, compiled=1.5), record(name(1), compiled=1.2)]
    new = [record(name(0)), record(name(1), compiled=1.3)]
    change = compare(run(base), run(new, "new")).change("geomean_vs_compile")
    assert change is not None
    assert (change.problems, change.unknown) == (1, 1)
    assert change.change == pytest.approx(1.3 / 1.2 - 1)


def test_an_infrastructure_error_has_no_partner_and_is_named() -> None:
    new = [record(name(0), compiled=1.0), record(name(1), Status.INFRA_ERROR)]
    found = compare(run(solved([1.0, 1.0])), run(new, "new"))
    assert found.pairs == 1
    assert found.unpaired == (f"{name(1)}#0",)
    assert not found.lost_problems


def test_a_problem_that_the_device_cannot_hold_is_no_missing_attempt() -> None:
    base = [record(name(0), compiled=1.0), record(name(1), None, not_run="needs 17.2 GB")]
    found = compare(run(base), run(base, "new"))
    assert found.unpaired == ()
    assert found.not_run == (f"{name(1)}#0",)


def test_a_problem_that_only_one_run_could_hold_is_a_missing_attempt() -> None:
    there, gone = record(name(1), Status.INCORRECT), record(name(1), None, not_run="needs 17.2 GB")
    for base, new in ((there, gone), (gone, there)):
        found = compare(run([record(name(0), compiled=1.0), base]), run([record(name(0), compiled=1.0), new], "new"))
        assert found.unpaired == (f"{name(1)}#0",)
        assert not found.not_run


def test_a_figure_that_new_lost_leaves_a_gate_open_that_would_not_fire() -> None:
    base = solved([1.5, 1.5, 1.5, 1.5])
    slow_ones_untimed = [record(name(0)), *solved([1.5] * 4)[1:]]
    ruling = judge(parse_rule("geomean_vs_compile:-3%:point"), compare(run(base), run(slow_ones_untimed, "new")))
    assert ruling.fired is None
    assert "1 attempts that base measured have no figure in new" in ruling.sentence
    ruling = judge(parse_rule("geomean_vs_compile:-3%:point"), compare(run(slow_ones_untimed), run(base, "new")))
    assert ruling.fired is False


# ---- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"suite_hash": "other"}, "its suite hash is not that of its problems"),
        ({"environment": {"model": "Other GPU"}}, "device"),
        ({"config": {"model": "m", "precision": "bf16"}}, "precision"),
        ({"config": {"model": "m", "policy": "any"}}, "policy"),
        ({"config": {"model": "m", "shapes": "full"}}, "shapes"),
        ({"protocol": {"name": "quick"}}, "protocol strict against quick"),
        ({"kbench_version": "1.0.0"}, "kbench 0 against 1"),
    ],
)
def test_runs_of_different_cells_are_refused_with_what_differs(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        compare(run(solved([1.0])), run(solved([1.0]), "new", **change))


def test_another_device_can_be_allowed_and_is_marked() -> None:
    other = run(solved([1.0]), "new", environment={"model": "Other GPU"})
    with pytest.raises(ConfigError, match="give --allow-different-device"):
        compare(run(solved([1.0])), other)
    [note] = compare(run(solved([1.0])), other, allow_different_device=True).cells_differ
    assert "Other GPU" in note


def test_another_device_does_not_excuse_another_precision() -> None:
    other = run(solved([1.0]), "new", environment={"model": "X"}, config={"model": "m", "precision": "bf16"})
    with pytest.raises(ConfigError, match="precision"):
        compare(run(solved([1.0])), other, allow_different_device=True)


def test_a_minor_version_is_of_the_same_cell() -> None:
    first, second = info(kbench_version="1.2.0"), info(kbench_version="1.9.3")
    assert differing(cell_of(first), cell_of(second)) == []


# ---- the gate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_two_runs_of_the_same_solutions_fire_no_gate(seed: int) -> None:
    speeds = speeds_of_a_model(1)
    noise = np.random.default_rng(seed).normal(0, 0.02, (2, PROBLEMS))  # 2 %: several times what an H200 shows
    base, new = (
        run(solved(speeds * np.exp(n), failing=(3, 17)), run_id) for n, run_id in zip(noise, "bn", strict=True)
    )
    assert fired(compare(base, new)) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_slowdown_of_ten_percent_in_ten_of_fifty_problems_fires(seed: int) -> None:
    rng = np.random.default_rng(seed)
    speeds, slower = speeds_of_a_model(1), rng.choice(PROBLEMS, 10, replace=False)
    planted = speeds.copy()
    planted[slower] *= 0.9
    noise = np.exp(rng.normal(0, 0.01, (2, PROBLEMS)))
    comparison = compare(run(solved(speeds * noise[0])), run(solved(planted * noise[1]), "new"))
    assert {"geomean_vs_compile", "geomean_vs_compile:-1%"} <= set(fired(comparison))
    sentence = judge(parse_rule("geomean_vs_compile:-1%"), comparison).sentence
    named = sentence.partition("Slowest against before: ")[2]
    assert sum(f"{name(i)} (" in named for i in slower) == 8  # of the eight that a sentence names


def test_a_drop_that_may_be_chance_fires_on_its_point_value_only() -> None:
    comparison = compare(run(solved([1.5] * 50)), run(solved([1.5] * 50, failing=(1, 2)), "new"))
    assert fired(comparison, ("pass_rate:-2%", "pass_rate:-2%:point", "pass_rate:-5%:point")) == ["pass_rate:-2%:point"]
    assert "may be chance" in judge(parse_rule("pass_rate:-2%"), comparison).sentence


def test_a_ratio_whose_spread_one_problem_makes_is_said_to_be_rough() -> None:
    speeds = speeds_of_a_model(1)
    slow = speeds * np.exp(np.random.default_rng(2).normal(0, 0.01, PROBLEMS))
    alike = compare(run(solved(speeds)), run(solved(slow), "new"))
    slow[7] /= 3
    apart = compare(run(solved(speeds)), run(solved(slow), "new"))
    rule = parse_rule("geomean_vs_compile:-1%")
    assert "1 problem makes most of the spread, so the interval is rough" in judge(rule, apart).sentence
    assert "rough" not in judge(rule, alike).sentence


def test_a_drop_that_is_sure_and_within_what_is_allowed_does_not_fire() -> None:
    comparison = compare(run(solved([1.5] * 50)), run(solved([1.45] * 50), "new"))
    assert fired(comparison, ("geomean_vs_compile:-5%", "geomean_vs_compile:-1%")) == ["geomean_vs_compile:-1%"]


def test_one_problem_that_is_no_longer_solved_is_a_new_failure_and_is_named() -> None:
    comparison = compare(run(solved([1.5] * 50)), run(solved([1.5] * 50, failing=(7,)), "new"))
    ruling = judge(parse_rule("any-new-failure"), comparison)
    assert ruling.fired
    assert ruling.sentence == f"1 of 50 problems are solved by base and not by new: {name(7)}"


def test_a_sample_that_fails_where_another_still_passes_is_no_new_failure() -> None:
    base = [record(name(0), Status.CORRECT, s) for s in range(2)]
    new = [record(name(0), Status.CORRECT), record(name(0), Status.INCORRECT, 1)]
    comparison = compare(run(base, samples=2), run(new, "new", samples=2))
    assert fired(comparison, ("any-new-failure",)) == []


def test_a_rule_about_what_was_not_measured_cannot_be_answered() -> None:
    untimed = [record(name(i)) for i in range(3)]
    ruling = judge(parse_rule("geomean_vs_compile:-3%"), compare(run(untimed), run(untimed, "new")))
    assert ruling.fired is None
    assert "not known" in ruling.sentence


def test_several_samples_let_a_gate_see_a_smaller_drop() -> None:
    rng = np.random.default_rng(2)

    def records(samples: int) -> list[Record]:
        right = rng.binomial(1, 0.6, (50, samples))
        return [
            record(name(p), Status.CORRECT if right[p, s] else Status.TIMEOUT, s)
            for p in range(50)
            for s in range(samples)
        ]

    seen = []
    for samples in (1, 8):
        change = compare(run(records(samples), samples=samples), run(records(samples), "new", samples=samples)).change(
            "pass_rate"
        )
        assert change is not None
        assert change.smallest_seen is not None
        seen.append(change.smallest_seen)
    assert seen[1] < seen[0] / 2  # independent samples: about sqrt(8) times the evidence


def test_a_stricter_gate_level_needs_more_evidence() -> None:
    base, new = run(solved([1.5] * 50)), run(solved([1.5] * 50, failing=tuple(range(5))), "new")
    assert fired(compare(base, new, gate_level=0.95), ("pass_rate",)) == ["pass_rate"]
    assert fired(compare(base, new, gate_level=0.99), ("pass_rate",)) == []


@pytest.mark.parametrize("text", ["pass_rat:-2%", "pass_rate:2", "any-new-failure:point", "", "pass_rate:"])
def test_a_rule_that_is_none_is_refused_with_the_names_there_are(text: str) -> None:
    with pytest.raises(ConfigError, match="geomean_vs_compile"):
        parse_rule(text)


def test_a_drop_without_its_sign_is_told_how_it_is_written() -> None:
    with pytest.raises(ConfigError, match="write pass_rate:-2%"):
        parse_rule("pass_rate:-2")


def test_the_problems_that_only_one_run_has_are_named() -> None:
    base, new = run(solved([1.0, 1.0])), run(solved([1.0]), "new")
    with pytest.raises(ConfigError, match="1 only in base "):
        compare(base, new)


def test_a_noisy_time_is_marked_where_it_is_told() -> None:
    (record,) = solved([1.5])
    assert record.verdict is not None
    assert record.verdict.timing is not None
    noisy = replace(record.verdict, timing=replace(record.verdict.timing, flags=("noisy",)))
    assert said(replace(record, verdict=noisy)).endswith("(noisy)")
    assert "noisy" not in said(record)


def test_a_rise_is_no_drop() -> None:
    with pytest.raises(ConfigError, match="pass_rate:-2%"):
        parse_rule("pass_rate:2%")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_can_be_gated(metric: str) -> None:
    comparison = compare(run(solved([1.5] * 10)), run(solved([0.5] * 10), "new"))
    ruling = judge(parse_rule(f"{metric}:-1%:point"), comparison)
    assert ruling.fired == (metric != "pass_rate")


# ---- words -----------------------------------------------------------------------------------------------------------


def test_a_comparison_is_frozen() -> None:
    comparison = compare(run(solved([1.5])), run(solved([1.5]), "new"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        comparison.pairs = 3  # type: ignore[misc]
