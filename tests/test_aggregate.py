"""Every figure against scipy, a formula written out anew, or a count made by hand."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from kbench.aggregate import FAST_P, summarise
from kbench.errors import SchemaError
from kbench.summary import Estimate, Summary
from kbench.types import Record, Status

from .making import record, reply

FAILURES = [s for s in Status if s not in (Status.CORRECT, Status.INFRA_ERROR)]
SPEED = st.floats(-3, 3).map(math.exp)


def ids(count: int, level: int = 1) -> list[str]:
    return [f"level{level}/{n}_p" for n in range(1, count + 1)]


@st.composite
def single_samples(draw: st.DrawFn) -> list[tuple[Status, float]]:
    attempt = st.tuples(st.sampled_from([Status.CORRECT, Status.CORRECT, *FAILURES]), SPEED)
    return draw(st.lists(attempt, min_size=2, max_size=30))


def single(outcomes: list[tuple[Status, float]]) -> Summary:
    problems = ids(len(outcomes))
    records = [
        record(problem, status, eager=speed if status is Status.CORRECT else None)
        for problem, (status, speed) in zip(problems, outcomes, strict=True)
    ]
    return summarise(records, problems, 1)


# ---- one sample a problem --------------------------------------------------------------------------------------------


@given(single_samples())
def test_the_pass_rate_and_its_interval_are_scipys_wilson(outcomes: list[tuple[Status, float]]) -> None:
    passed = sum(status is Status.CORRECT for status, _ in outcomes)
    expected = scipy.stats.binomtest(passed, len(outcomes)).proportion_ci(0.95, "wilson")
    rate = single(outcomes).overall.pass_rate
    assert rate.interval is not None
    assert rate.value == pytest.approx(passed / len(outcomes))
    assert (rate.interval.low, rate.interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(single_samples())
def test_fast_p_counts_correct_attempts_above_p_among_all(outcomes: list[tuple[Status, float]]) -> None:
    against = single(outcomes).overall.baselines["eager"]
    for p in FAST_P:
        fast = sum(status is Status.CORRECT and speed > float(p) for status, speed in outcomes)
        assert against.fast_p[p].value == pytest.approx(fast / len(outcomes))
    assert against.faster == against.fast_p["1"]


def test_a_speed_up_of_exactly_p_is_not_above_it() -> None:
    against = single([(Status.CORRECT, 1.5), (Status.CORRECT, 1.0)]).overall.baselines["eager"]
    assert [against.fast_p[p].value for p in FAST_P] == [1, 1, 1, 0.5, 0.5, 0, 0]


@given(single_samples())
def test_the_geomean_of_correct_solutions_is_scipys(outcomes: list[tuple[Status, float]]) -> None:
    speeds = [speed for status, speed in outcomes if status is Status.CORRECT]
    got = single(outcomes).overall.baselines["eager"].geomean_correct
    assert got.over == len(speeds)
    assert got.value == (pytest.approx(scipy.stats.gmean(speeds)) if speeds else None)


@given(single_samples())
def test_the_penalised_geomean_counts_failures_as_one(outcomes: list[tuple[Status, float]]) -> None:
    speeds = [speed if status is Status.CORRECT else 1.0 for status, speed in outcomes]
    got = single(outcomes).overall.baselines["eager"].geomean_penalised
    assert got.value == pytest.approx(scipy.stats.gmean(speeds))
    logs = np.log(speeds)
    if got.interval is not None and logs.std() > 1e-6:
        low, high = scipy.stats.t.interval(0.95, len(logs) - 1, logs.mean(), scipy.stats.sem(logs))
        # Skewness may move either end further out (tests/test_stats.py), and a symmetric outcome neither.
        assert math.log(got.interval.low) <= low + 1e-6
        assert math.log(got.interval.high) >= high - 1e-6
        if abs(scipy.stats.skew(logs)) < 1e-9:
            assert (math.log(got.interval.low), math.log(got.interval.high)) == pytest.approx((low, high), abs=1e-6)


def test_a_refusal_is_a_failure_and_has_a_rate_of_its_own() -> None:
    overall = single([(Status.REFUSED, 1), (Status.CORRECT, 2), (Status.NO_CODE, 1), (Status.REFUSED, 1)]).overall
    assert (overall.refusal_rate.value, overall.pass_rate.value) == (0.5, 0.25)


def test_every_status_is_counted_also_those_that_did_not_occur() -> None:
    statuses = single([(Status.CORRECT, 2), (Status.TAMPER, 1), (Status.TAMPER, 1)]).overall.statuses
    assert statuses == {str(s): 0 for s in Status} | {"correct": 1, "tamper": 2}


def test_surely_faster_wants_the_whole_interval_above_one() -> None:
    records = [
        record("level1/1_p", eager=1.2, sure=True),
        record("level1/2_p", eager=1.2, sure=False),
        record("level1/3_p", Status.TIMEOUT),
        record("level1/4_p", Status.INCORRECT),
    ]
    against = summarise(records, ids(4), 1).overall.baselines["eager"]
    assert (against.faster.value, against.surely_faster.value) == (0.5, 0.25)


def test_surely_faster_is_unknown_where_nothing_has_an_interval() -> None:
    assert single([(Status.CORRECT, 3), (Status.TIMEOUT, 1)]).overall.baselines["eager"].surely_faster.value is None


def test_surely_faster_is_nought_in_a_level_that_failed_while_others_have_intervals() -> None:
    records = [record("level1/1_p", eager=2, sure=True), record("level2/1_p", Status.TIMEOUT)]
    levels = summarise(records, ["level1/1_p", "level2/1_p"], 1).levels
    assert [level.baselines["eager"].surely_faster.value for level in levels] == [1, 0]


def test_a_single_sample_has_no_pass_at_k() -> None:
    overall = single([(Status.CORRECT, 1), (Status.CORRECT, 2)]).overall
    assert (overall.pass_at_k, overall.baselines["eager"].best_at_k) == ({}, {})


# ---- unknown is None -------------------------------------------------------------------------------------------------


def test_untimed_is_none_not_zero() -> None:
    against = summarise([record(f"level1/{n}_p") for n in (1, 2)], ids(2), 1).overall.baselines["compile"]
    estimates = [against.faster, against.surely_faster, against.geomean_correct, against.geomean_penalised]
    assert [e.value for e in estimates] == [None] * 4
    assert [e.interval for e in estimates] == [None] * 4
    assert against.fast_p["1.5"].value is None
    assert against.faster.unknown == 2


def test_fast_0_is_the_pass_rate_also_where_nothing_was_timed() -> None:
    overall = summarise([record("level1/1_p"), record("level1/2_p", Status.TIMEOUT)], ids(2), 1).overall
    assert overall.baselines["eager"].fast_p["0"].value == overall.pass_rate.value == 0.5


def test_one_untimed_attempt_stays_in_the_denominator_and_is_named() -> None:
    records = [record("level1/1_p", eager=2), record("level1/2_p")]
    faster = summarise(records, ids(2), 1).overall.baselines["eager"].faster
    assert (faster.value, faster.unknown, faster.note) == (0.5, 1, "1 correct without this measurement")


def test_one_untimed_attempt_is_left_out_of_a_mean_and_named() -> None:
    records = [record("level1/1_p", eager=4), record("level1/2_p"), record("level1/3_p", Status.TIMEOUT)]
    against = summarise(records, ids(3), 1).overall.baselines["eager"]
    assert against.geomean_penalised.value == pytest.approx(2)
    assert against.geomean_penalised.note == "over 2 of 3 problems; 1 correct without this measurement"


def test_one_untimed_attempt_makes_its_problems_best_unknown() -> None:
    records = [record("level1/1_p", eager=4), record("level1/1_p", sample=1)]
    records += [record("level1/2_p", eager=3), record("level1/2_p", Status.TIMEOUT, 1)]
    best = summarise(records, ids(2), 2).overall.baselines["eager"].best_at_k
    assert best["2"].value == pytest.approx(3)
    assert best["1"].value == pytest.approx(3**0.5)


def test_a_run_without_a_record_has_no_figures_and_misses_everything() -> None:
    summary = summarise([], ids(2), 2)
    assert summary.overall.pass_rate == Estimate(None, None, 0, 2, 0, "over 0 of 2 problems")
    assert summary.overall.usage.wall_time_s is None
    assert len(summary.missing) == 4
    assert not summary.complete


def test_with_no_correct_attempt_faster_is_nought_and_the_geomean_unknown() -> None:
    against = single([(Status.TIMEOUT, 1), (Status.INCORRECT, 1)]).overall.baselines["eager"]
    assert (against.faster.value, against.geomean_correct.value, against.geomean_penalised.value) == (0, None, 1)


# ---- levels ----------------------------------------------------------------------------------------------------------


def test_overall_weighs_levels_by_their_number_of_problems() -> None:
    problems = ids(6, 1) + ids(2, 2)
    records = [record(p, eager=4) for p in ids(6, 1)] + [record(p, Status.TIMEOUT) for p in ids(2, 2)]
    summary = summarise(records, problems, 1)
    assert [level.pass_rate.value for level in summary.levels] == [1, 0]
    assert summary.overall.pass_rate.value == (6 * 1 + 2 * 0) / 8
    assert summary.overall.baselines["eager"].geomean_penalised.value == pytest.approx(4 ** (6 / 8) * 1 ** (2 / 8))


def test_overall_weighs_levels_by_problems_also_with_uneven_samples() -> None:
    problems = ["level1/1_p", "level2/1_p"]
    records = [record("level1/1_p", sample=s) for s in range(9)] + [record("level2/1_p", Status.TIMEOUT)]
    assert summarise(records, problems, 9).overall.pass_rate.value == 0.5


def test_levels_are_in_order() -> None:
    assert [level.level for level in summarise([], ids(1, 3) + ids(1, 1), 1).levels] == [1, 3]


# ---- what is not a result --------------------------------------------------------------------------------------------


def test_an_infrastructure_error_is_not_scored_and_is_listed_as_incomplete() -> None:
    summary = summarise([record("level1/1_p"), record("level1/2_p", Status.INFRA_ERROR)], ids(2), 1)
    rate = summary.overall.pass_rate
    assert (rate.value, rate.note) == (1.0, "over 1 of 2 problems")
    assert summary.incomplete == ("level1/2_p#0",)
    assert summary.overall.statuses["infra_error"] == 1
    assert not summary.complete


def test_a_problem_that_is_not_run_is_no_failure_and_is_listed_with_its_reason() -> None:
    big = record("level1/2_p", None, not_run="needs 17.2 GB")
    summary = summarise([record("level1/1_p"), record("level1/1_p", sample=1), big], ids(2), 2)
    assert summary.not_run == {"level1/2_p": "needs 17.2 GB"}
    assert (summary.overall.not_run, summary.overall.pass_rate.value) == (1, 1.0)
    assert summary.overall.pass_rate.note == "over 1 of 2 problems"
    assert summary.complete


def test_the_last_record_of_an_attempt_counts() -> None:
    records = [record("level1/1_p", Status.INFRA_ERROR), record("level1/1_p", Status.CORRECT)]
    summary = summarise(records, ids(1), 1)
    assert summary.overall.pass_rate.value == 1
    assert summary.overall.statuses["infra_error"] == 0
    assert summary.complete


def test_baselines_judged_as_candidates_are_counted_as_exempt() -> None:
    assert summarise([record("level1/1_p", exempt=True)], ids(1), 1).overall.exempt == 1


def test_a_record_of_another_problem_is_refused() -> None:
    with pytest.raises(SchemaError, match="level1/9_x#0 is of a problem"):
        summarise([record("level1/9_x")], ids(1), 1)


# ---- what it took ----------------------------------------------------------------------------------------------------


def test_tokens_and_cost_add_up_over_attempts_made_again_too() -> None:
    lost = record("level1/1_p", Status.INFRA_ERROR, reply=reply(tokens_input=10, tokens_output=1, cost_usd=0.5))
    kept = record("level1/1_p", reply=reply(tokens_input=20, tokens_output=2, cost_usd=0.25))
    usage = summarise([lost, kept], ids(1), 1).overall.usage
    assert (usage.tokens_input, usage.tokens_output, usage.cost_usd) == (30, 3, 0.75)


def test_a_cost_that_is_unknown_for_one_reply_is_unknown_for_all() -> None:
    records = [record("level1/1_p", reply=reply(cost_usd=0.5)), record("level1/2_p", reply=reply(tokens_input=3))]
    usage = summarise(records, ids(2), 1).overall.usage
    assert (usage.cost_usd, usage.tokens_input) == (None, None)


def test_a_reply_that_is_judged_again_is_paid_once() -> None:
    first = record("level1/1_p", Status.INFRA_ERROR, reply=reply(cost_usd=0.5))
    again = record("level1/1_p", reply=reply(cost_usd=0.5, reused=True))
    assert summarise([first, again], ids(1), 1).overall.usage.cost_usd == 0.5


def test_a_run_that_asked_no_model_has_unknown_cost() -> None:
    assert summarise([record("level1/1_p")], ids(1), 1).overall.usage.cost_usd is None


def test_wall_time_counts_what_ran_side_by_side_once_and_a_pause_not_at_all() -> None:
    spans = [(0, 10), (5, 10), (6, 1), (100, 2)]
    records = [record(f"level1/{n}_p", second=s, seconds=d) for n, (s, d) in enumerate(spans, start=1)]
    assert summarise(records, ids(4), 1).overall.usage.wall_time_s == 17


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(SchemaError, match="no offset"):
        summarise([replace(record("level1/1_p"), started="2026-01-01T00:00:00")], ids(1), 1)


# ---- size ------------------------------------------------------------------------------------------------------------


def many(count: int, problems: list[str]) -> list[Record]:
    kinds = [record(eager=1.5, compiled=0.9, sure=True), record(eager=0.7, compiled=2), record(status=Status.TIMEOUT)]
    return [
        replace(kinds[i % 3], problem_id=problems[i % len(problems)], sample=i // len(problems), key="")
        for i in range(count)
    ]


def test_a_hundred_thousand_attempts_take_seconds() -> None:
    problems = ids(250)
    records = many(100_000, problems)
    start = time.process_time()
    summary = summarise(records, problems, 400)
    assert time.process_time() - start < 20
    assert summary.overall.attempts == 100_000


@pytest.mark.parametrize("problem", ["evil", "level/x", "levelx/y", "../level1/a", "level\u00b2/a"])
def test_a_problem_of_no_level_is_refused(problem: str) -> None:
    with pytest.raises(SchemaError, match="is of no level"):
        summarise([], [problem], 1)


def test_a_mean_whose_spread_two_problems_make_says_so() -> None:
    speeds = [1.0] * 28 + [4.0, 0.25]
    records = [record(f"level1/{i}_p", eager=speed) for i, speed in enumerate(speeds, 1)]
    against = summarise(records, ids(30), 1).overall.baselines["eager"]
    assert against.geomean_correct.note == "2 problems make most of the spread, so the interval is rough"
    assert against.faster.note == ""
