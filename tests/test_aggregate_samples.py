"""Several samples a problem: pass@k, best@k, and runs that are short of some. Draws are enumerated by hand."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbench.aggregate import summarise
from kbench.summary import Summary
from kbench.types import Status

from .making import record

SPEED = st.floats(-3, 3).map(math.exp)


def ids(count: int, level: int = 1) -> list[str]:
    return [f"level{level}/{n}_p" for n in range(1, count + 1)]


def by_hand(values: list[float]) -> float:
    return sum(values) / len(values)


def short_run() -> Summary:
    """Problem 1 has samples right, wrong; problem 2 has one, wrong; problem 10 has two, right."""
    outcomes = {"level1/1_p": [True, False], "level1/2_p": [False], "level1/10_p": [True, True]}
    records = [
        record(problem, Status.CORRECT if right else Status.INCORRECT, sample, eager=2.0 if right else None)
        for problem, results in outcomes.items()
        for sample, right in enumerate(results)
    ]
    random.Random(1).shuffle(records)
    return summarise(records, list(outcomes), 2)


def test_pass_at_1_weighs_every_problem_the_same() -> None:
    overall = short_run().overall
    assert overall.pass_at_k["1"].value == overall.pass_rate.value == 0.5


def test_a_problem_with_fewer_samples_than_k_has_no_pass_at_k() -> None:
    assert [(p.id, p.pass_at_k["2"]) for p in short_run().problems] == [
        ("level1/1_p", 1.0), ("level1/2_p", None), ("level1/10_p", 1.0),
    ]  # fmt: skip


def test_a_pass_at_k_over_fewer_problems_says_so_in_the_same_place() -> None:
    got = short_run().overall.pass_at_k["2"]
    assert (got.value, got.over, got.of, got.note) == (1.0, 2, 3, "over 2 of 3 problems")


def test_a_best_at_k_over_fewer_problems_says_so_in_the_same_place() -> None:
    got = short_run().overall.baselines["eager"].best_at_k["2"]
    assert (got.value, got.note) == (pytest.approx(2.0), "over 2 of 3 problems")


def test_a_missing_sample_is_reported_and_not_invented() -> None:
    summary = short_run()
    assert summary.missing == ("level1/2_p#1",)
    assert (summary.overall.attempts, summary.overall.attempts_expected) == (5, 6)


def test_problems_are_listed_in_the_order_asked_for() -> None:
    assert [p.id for p in short_run().problems] == ["level1/1_p", "level1/2_p", "level1/10_p"]


@pytest.mark.parametrize(("samples", "ks"), [(2, "1 2"), (4, "1 2 4"), (5, "1 2 4 5"), (100, "1 2 4 8 16 32 64 100")])
def test_k_runs_over_powers_of_two_and_the_number_of_samples(samples: int, ks: str) -> None:
    assert list(summarise([], ids(1), samples).overall.pass_at_k) == ks.split()


@given(st.lists(st.lists(st.none() | SPEED, min_size=4, max_size=4), min_size=1, max_size=6))
def test_pass_and_best_at_k_are_means_over_all_draws(outcomes: list[list[float | None]]) -> None:
    """None is a failure, a number a correct solution's speed-up."""
    problems = ids(len(outcomes))
    records = [
        record(problem, Status.INCORRECT if speed is None else Status.CORRECT, sample, eager=speed)
        for problem, speeds in zip(problems, outcomes, strict=True)
        for sample, speed in enumerate(speeds)
    ]
    overall = summarise(records, problems, 4).overall
    for k in (1, 2, 4):
        draws = [list(combinations(speeds, k)) for speeds in outcomes]
        right = [by_hand([any(s is not None for s in draw) for draw in of_problem]) for of_problem in draws]
        best = [by_hand([max(math.log(s or 1) for s in draw) for draw in of_problem]) for of_problem in draws]
        assert overall.pass_at_k[str(k)].value == pytest.approx(by_hand(right))
        assert overall.baselines["eager"].best_at_k[str(k)].value == pytest.approx(math.exp(by_hand(best)))
    assert overall.baselines["eager"].best_at_k["1"].value == pytest.approx(
        overall.baselines["eager"].geomean_penalised.value
    )


def test_an_interval_over_many_samples_of_few_problems_stays_wide() -> None:
    records = [record(p, [Status.CORRECT, Status.TIMEOUT][s % 2], s) for p in ids(3) for s in range(100)]
    interval = summarise(records, ids(3), 100).overall.pass_rate.interval
    assert interval is not None
    assert interval.high - interval.low > 0.5
