"""scipy, closed forms and brute force are the second sources."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from kbench import stats

DF = st.floats(1, 1e7)
TAIL = st.floats(-14, math.log10(0.4999)).map(lambda exponent: 10**exponent)
LOGS = st.floats(-5, 5)


@given(TAIL, DF)
def test_student_quantile_agrees_with_scipy(tail: float, df: float) -> None:
    assert stats.student_t_quantile(tail, df) == pytest.approx(-scipy.stats.t.isf(tail, df), rel=1e-8)


@given(st.floats(1e-12, 0.49))
def test_student_quantile_with_one_degree_is_the_cauchy_quantile_near_the_centre(offset: float) -> None:
    exact = math.tan(math.pi * ((0.5 + offset) - 0.5))
    assert stats.student_t_quantile(0.5 + offset, 1) == pytest.approx(exact, rel=1e-9)


def test_student_quantile_with_infinite_degrees_is_the_normal_quantile() -> None:
    assert stats.student_t_quantile(0.975, math.inf) == pytest.approx(1.959963984540054, rel=1e-12)


@given(st.floats(1e-6, 0.49), DF)
def test_student_quantile_is_antisymmetric(tail: float, df: float) -> None:
    assert stats.student_t_quantile(tail, df) == pytest.approx(-stats.student_t_quantile(1 - tail, df), rel=1e-8)


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (-0.1, 5), (0.5, 0.5), (math.nan, 5), (0.5, math.nan)])
def test_student_quantile_refuses_what_it_cannot_answer(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="no Student quantile"):
        stats.student_t_quantile(p, df)


@given(st.integers(0, 3000), st.floats(0, 1), st.data())
def test_binomial_tail_agrees_with_scipy(n: int, p: float, data: st.DataObject) -> None:
    x = data.draw(st.integers(-1, n + 1))
    assert stats.binomial_tail(x, n, p) == pytest.approx(scipy.stats.binom.sf(x - 1, n, p), rel=1e-8, abs=1e-280)


@given(st.integers(1, 5000), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject, level: float) -> None:
    successes = data.draw(st.integers(0, n))
    expected = scipy.stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    got = stats.wilson_interval(successes / n, n, level)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.lists(LOGS, min_size=1, max_size=50))
def test_geometric_mean_agrees_with_scipy(logs: list[float]) -> None:
    values = [math.exp(log) for log in logs]
    assert stats.geometric_mean(values) == pytest.approx(scipy.stats.gmean(values), rel=1e-10)


def test_geometric_mean_does_not_overflow_where_a_product_would() -> None:
    assert stats.geometric_mean([1e300] * 100) == pytest.approx(1e300)


def test_geometric_mean_of_nothing_is_unknown() -> None:
    assert stats.geometric_mean([]) is None
    assert stats.geometric_mean_interval([]) is None


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_geometric_mean_refuses_what_has_no_logarithm(bad: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        stats.geometric_mean([1.0, bad])


@given(st.lists(LOGS, min_size=2, max_size=30).filter(lambda logs: np.std(logs) > 1e-6))
def test_geometric_mean_interval_is_scipys_t_interval_of_the_logs_or_halls_where_that_is_further(
    logs: list[float],
) -> None:
    got = stats.geometric_mean_interval([math.exp(log) for log in logs])
    assert got is not None
    reach = scipy.stats.t.ppf(0.975, len(logs) - 1)
    a = scipy.stats.skew(logs) / math.sqrt(len(logs)) if len(logs) >= stats.SKEWNESS_FROM else 0.0
    for side, bound in ((1, got.low), (-1, got.high)):
        t = side * (np.mean(logs) - math.log(bound)) / scipy.stats.sem(logs)
        assert t >= reach * (1 - 1e-6)
        skewed = side * t  # Hall's transformation of it, forward
        transformed = side * (skewed + a * skewed**2 / 3 + a**2 * skewed**3 / 27 + a / 6)
        assert t == pytest.approx(reach, rel=1e-6) or transformed == pytest.approx(reach, rel=1e-6)


def test_an_interval_from_a_single_value_is_unknown() -> None:
    assert stats.geometric_mean_interval([2.0]) is None


def test_an_interval_wider_than_a_double_is_open_not_an_error() -> None:
    interval = stats.geometric_mean_interval([1e-200, 1e200])
    assert interval is not None
    assert interval.high == math.inf


@given(st.lists(LOGS, min_size=1, max_size=8), st.floats(0, 0.5), st.floats(5, 200))
def test_pair_interval_uses_the_pooled_spread_and_its_degrees(logs: list[float], sd: float, df: float) -> None:
    half = scipy.stats.t.ppf(0.975, df) * sd / math.sqrt(len(logs))
    got = stats.interval_from_pairs(logs, sd, df)
    expected = (np.mean(logs) - half, np.mean(logs) + half)
    assert (math.log(got.low), math.log(got.high)) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_pair_interval_covers_at_its_level() -> None:
    rng = np.random.default_rng(7)
    trials, df, sd = 4000, 30, 0.01
    pooled = sd * np.sqrt(rng.chisquare(df, trials) / df)
    pairs = rng.normal(0.3, sd, (trials, 3))
    intervals = [stats.interval_from_pairs(list(row), s, df) for row, s in zip(pairs, pooled, strict=True)]
    missed = sum(not i.low <= math.exp(0.3) <= i.high for i in intervals)
    assert stats.binomial_tail(missed, trials, 0.05) > 0.001
    assert stats.binomial_tail(trials - missed, trials, 0.95) > 0.001


def test_pair_interval_needs_a_pair() -> None:
    with pytest.raises(ValueError, match="0 pairs"):
        stats.interval_from_pairs([], 0.1, 30)


@given(st.integers(0, 9), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, 10))
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    expected = sum(any(draw) for draw in draws) / len(draws) if draws else None
    assert stats.pass_at_k(n, c, k) == (expected if expected is None else pytest.approx(expected))


def test_pass_at_k_with_fewer_samples_than_k_is_unknown() -> None:
    assert stats.pass_at_k(1, 0, 2) is None
    assert stats.pass_at_k(1, 1, 2) is None


def test_pass_at_k_of_a_large_sample_is_finite() -> None:
    assert stats.pass_at_k(10_000, 3, 5_000) == pytest.approx(1 - 0.5**3, abs=1e-3)


@given(st.lists(LOGS, min_size=0, max_size=8), st.integers(1, 9))
def test_best_at_k_is_the_mean_of_the_best_over_all_draws(scores: list[float], k: int) -> None:
    draws = list(itertools.combinations(scores, k))
    expected = sum(max(draw) for draw in draws) / len(draws) if draws else None
    assert stats.best_at_k(scores, k) == (expected if expected is None else pytest.approx(expected, abs=1e-12))


def test_bootstrap_gives_the_same_interval_again() -> None:
    values = [0.0, 0.5, 1.0, 0.25] * 10
    assert stats.bootstrap_interval(values, seed=3) == stats.bootstrap_interval(values, seed=3)


@pytest.mark.parametrize("n", [24, 60, 250])
def test_bootstrap_takes_the_quantiles_of_each_resamples_own_t(n: int) -> None:
    values = np.random.default_rng(1).exponential(1, n)
    drawn = np.random.default_rng(5).choice(values, (20_000, n))
    ts = scipy.stats.ttest_1samp(drawn, values.mean(), axis=1).statistic
    low, high = np.quantile(ts, [0.025, 0.975])
    reach = scipy.stats.t.ppf(0.975, n - 1)
    got = stats.bootstrap_interval(list(values))
    assert got is not None
    mean, error = values.mean(), scipy.stats.sem(values)
    expected = (mean - max(high, reach) * error, mean + max(-low, reach) * error)
    assert (got.low, got.high) == pytest.approx(expected, abs=0.06 * (expected[1] - expected[0]))


def test_bootstrap_of_few_problems_is_scipys_t_interval() -> None:
    values = [0.1, 0.0, 2.0, 0.3, -0.1]
    got = stats.bootstrap_interval(values)
    assert got is not None
    expected = scipy.stats.t.interval(0.95, 4, np.mean(values), scipy.stats.sem(values))
    assert (got.low, got.high) == pytest.approx(expected)


def test_bootstrap_of_equal_values_is_that_value() -> None:
    interval = stats.bootstrap_interval([0.1] * 30)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.1, 0.1))


def test_bootstrap_of_one_problem_is_unknown() -> None:
    assert stats.bootstrap_interval([0.5]) is None


def test_rate_interval_of_single_samples_is_wilsons() -> None:
    assert stats.rate_interval([1.0, 0.0, 0.0, 1.0] * 10) == stats.wilson_interval(0.5, 40)


def test_rate_interval_of_few_problems_does_not_shrink_to_their_luck() -> None:
    # Three problems that all passed half of their samples: a bootstrap would say [0.5, 0.5].
    interval = stats.rate_interval([0.5, 0.5, 0.5], samples=2)
    assert interval is not None
    assert interval.high - interval.low > 0.5


@pytest.mark.parametrize("values", [[0.5] * 4 + [0.0] * 72, [0.5] * 4 + [1.0] * 72])
def test_rate_interval_counts_problems_not_samples_where_few_events_say_how_they_spread(values: list[float]) -> None:
    assert stats.rate_interval(values, samples=8) == stats.wilson_interval(math.fsum(values) / len(values), len(values))


def test_rate_interval_of_problems_that_are_all_right_or_all_wrong_is_about_wilsons_of_the_problems() -> None:
    values = [1.0, 0.0] * 60
    alone, clustered = stats.rate_interval(values, samples=1), stats.rate_interval(values, samples=8)
    assert alone is not None
    assert clustered is not None
    assert (clustered.low, clustered.high) == pytest.approx((alone.low, alone.high), abs=0.005)


def test_rate_interval_of_independent_samples_is_about_wilsons_of_all_of_them() -> None:
    values = list(np.random.default_rng(4).binomial(8, 0.5, 200) / 8)
    wilson = stats.wilson_interval(math.fsum(values) / 200, 1600)
    got = stats.rate_interval(values, samples=8)
    assert got is not None
    assert got.high - got.low == pytest.approx(wilson.high - wilson.low, rel=0.15)


@pytest.mark.parametrize("problems", [50, 100, 250])
@pytest.mark.parametrize("samples", [2, 8])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (3, 0.3), (2, 2)])
def test_rate_interval_covers_with_several_samples_a_problem(problems: int, samples: int, a: float, b: float) -> None:
    rng = np.random.default_rng(problems + samples)
    trials = 800
    shares = rng.binomial(samples, rng.beta(a, b, (trials, problems))) / samples
    intervals = [stats.rate_interval(list(row), samples) for row in shares]
    covered = sum(i is not None and i.low <= a / (a + b) <= i.high for i in intervals)
    assert _consistent(covered, trials, 0.93, 0.975)


@pytest.mark.parametrize("problems", [24, 50, 100, 250])
def test_rate_interval_of_single_samples_covers_at_its_level_over_the_rates_that_occur(problems: int) -> None:
    # Exactly, not by simulation: a rate of whole problems jumps, so its coverage at one true rate is not smooth.
    rates = np.linspace(0.05, 0.95, 181)
    intervals = [stats.rate_interval([1.0] * c + [0.0] * (problems - c)) for c in range(problems + 1)]
    hit = np.array([[i is not None and i.low <= rate <= i.high for i in intervals] for rate in rates])
    chance = scipy.stats.binom.pmf(np.arange(problems + 1), problems, rates[:, None])
    coverage = (hit * chance).sum(axis=1)
    assert 0.945 < coverage.mean() < 0.965
    assert coverage.min() > 0.91


@pytest.mark.parametrize(("n", "skewed"), [(8, False), (24, False), (50, False), (250, False), (50, True), (250, True)])
def test_geometric_mean_interval_covers_at_its_level(n: int, skewed: bool) -> None:
    rng = np.random.default_rng(n)
    trials = 2000
    logs = rng.exponential(0.3, (trials, n)) if skewed else rng.normal(0.3, 0.4, (trials, n))
    intervals = [stats.geometric_mean_interval(list(np.exp(row))) for row in logs]
    covered = sum(i is not None and i.low <= math.exp(0.3) <= i.high for i in intervals)
    assert _consistent(covered, trials, 0.93, 0.97)


def _consistent(covered: int, trials: int, low: float, high: float) -> bool:
    """Whether a coverage between `low` and `high` could give this count, at 0.1 % either way (scipy's binomial)."""
    return bool(
        scipy.stats.binom.cdf(covered, trials, low) > 0.001 and scipy.stats.binom.sf(covered - 1, trials, high) > 0.001
    )


@given(st.integers(20, 400), st.integers(1, 2), st.floats(-3, 3), st.floats(1e-3, 100))
def test_a_spread_that_one_or_two_problems_make_is_said_to_be_theirs(
    n: int, few: int, centre: float, by: float
) -> None:
    # Equal deviations of `few` among n: the number that would spread as much is n q / (1 - 3 q + 3 q^2), q = p (1 - p), p = few / n.
    p = few / n
    wanted = 1 / ((p**3 + (1 - p) ** 3) / (p * (1 - p))) * n
    found = stats.few_that_spread([centre + by * (place < few) for place in range(n)])
    assert found == (round(wanted) if wanted < 3 else None)


@pytest.mark.parametrize("n", [24, 50, 250])
def test_a_spread_of_one_kind_is_not_said_to_be_that_of_few(n: int) -> None:
    rng = np.random.default_rng(4)
    assert sum(stats.few_that_spread(list(rng.normal(0.2, 0.4, n))) is not None for _ in range(300)) <= 3
    assert stats.few_that_spread([0.3] * n) is None
    assert stats.few_that_spread([]) is None


def test_rate_interval_of_no_problem_is_unknown() -> None:
    assert stats.rate_interval([]) is None
