"""statsmodels, scipy, published examples and brute force are the second sources; coverage is simulated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import statsmodels.stats.contingency_tables as tables
import statsmodels.stats.power as power
from hypothesis import given
from hypothesis import strategies as st

from kbench import paired, stats

COUNT = st.integers(0, 60)


@given(COUNT, COUNT)
def test_the_sign_flip_test_of_single_samples_is_mcnemars(gains: int, losses: int) -> None:
    expected = tables.mcnemar([[5, gains], [losses, 5]], exact=True).pvalue if gains + losses else 1.0
    differences = [Fraction(1)] * gains + [Fraction(-1)] * losses + [Fraction(0)] * 3
    assert paired.sign_flip_p(differences) == pytest.approx(min(1.0, expected), rel=1e-9)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 4)), max_size=9))
def test_the_sign_flip_test_counts_all_signs(parts: list[tuple[int, int]]) -> None:
    differences = [Fraction(n, d) for n, d in parts]
    observed = abs(sum(differences))
    draws = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in _signs(len(differences))]
    expected = sum(abs(total) >= observed for total in draws) / len(draws)
    assert paired.sign_flip_p(differences) == pytest.approx(expected)


def _signs(n: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=n))


def test_the_sign_flip_test_agrees_with_scipys_permutation_test() -> None:
    differences = [Fraction(k, 4) for k in (-3, -2, -4, 1, 2, -1, -3, 4, -2, -2, 1, -4)]
    drawn = scipy.stats.permutation_test(
        ([float(d) for d in differences], [0.0] * len(differences)), lambda a, b: np.mean(a - b), n_resamples=np.inf,
        permutation_type="samples",
    )  # fmt: skip
    assert paired.sign_flip_p(differences) == pytest.approx(drawn.pvalue, abs=1e-9)


@pytest.mark.parametrize(("gains", "losses", "n"), [(3, 9, 50), (0, 4, 24), (0, 0, 100), (20, 5, 250)])
def test_tango_interval_is_where_the_constrained_likelihoods_score_test_turns(gains: int, losses: int, n: int) -> None:
    for bound, z in zip(paired.tango_interval(gains, losses, n, 1.96), (1.96, -1.96), strict=True):
        q = _constrained_losses(gains, losses, n, bound)
        score = (gains - losses - n * bound) / math.sqrt(n * (2 * q + bound * (1 - bound)))
        assert score == pytest.approx(z, abs=1e-3)


def _constrained_losses(gains: int, losses: int, n: int, delta: float) -> float:
    """The loss rate that makes the counts most likely where gains minus losses is delta, by numerical search."""

    def minus_log(q: float) -> float:
        cells = ((gains, q + delta), (losses, q), (n - gains - losses, 1 - 2 * q - delta))
        return -sum(count * math.log(max(chance, 1e-300)) for count, chance in cells if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    return float(
        scipy.optimize.minimize_scalar(minus_log, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    )


@given(COUNT, COUNT)
def test_tango_interval_excludes_zero_where_mcnemars_score_test_rejects(gains: int, losses: int) -> None:
    if gains + losses == 0:
        return
    low, high = paired.tango_interval(gains, losses, 150, 1.96)
    rejected = abs(gains - losses) / math.sqrt(gains + losses) > 1.96 + 1e-9
    assert (low > 1e-9 or high < -1e-9) == rejected


@pytest.mark.parametrize("n", [50, 250])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("drop", [0.0, 0.1])
def test_rate_difference_interval_covers_at_its_level(n: int, samples: int, drop: float) -> None:
    rng = np.random.default_rng(n + samples)
    trials = 500
    rates = rng.beta(1, 0.5, (trials, n))
    before, after = rng.binomial(samples, rates) / samples, rng.binomial(samples, rates * (1 - drop)) / samples
    truth = -drop * 1 / 1.5
    intervals = [paired.rate_difference_interval(list(row), samples) for row in after - before]
    covered = sum(i is not None and i.low <= truth <= i.high for i in intervals)
    assert _within(covered, trials, 0.93, 0.98)


def _alike(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0.03, 0.1, shape)


def _a_fifth_slower(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0, 0.01, shape) + (rng.random(shape) < 0.2) * -0.1


def _few_move_a_lot(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0, 0.02, shape) + (rng.random(shape) < 0.15) * rng.normal(-0.5, 0.5, shape)


def _many_untouched(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return (rng.random(shape) < 0.6) * rng.normal(0.3, 0.4, shape)


@pytest.mark.parametrize(
    ("draw", "truth"), [(_alike, 0.03), (_a_fifth_slower, -0.02), (_few_move_a_lot, -0.075), (_many_untouched, 0.18)]
)
@pytest.mark.parametrize("n", [50, 100])
def test_ratio_interval_covers_at_its_level(n: int, draw: Any, truth: float) -> None:
    trials = 400
    intervals = [paired.ratio_interval(list(row)) for row in draw(np.random.default_rng(n), (trials, n))]
    covered = sum(i is not None and i.low <= math.exp(truth) <= i.high for i in intervals)
    assert _within(covered, trials, 0.93, 0.985)


def _within(covered: int, trials: int, low: float, high: float) -> bool:
    """Whether a coverage between `low` and `high` is consistent with the simulation, at 0.1 % either way."""
    too_few = stats.binomial_tail(trials - covered, trials, 1 - low)
    too_many = stats.binomial_tail(covered, trials, high)
    return too_few > 0.001 and too_many > 0.001


@pytest.mark.parametrize("n", [24, 100, 250])
def test_the_smallest_seen_number_of_losses_is_seen_and_one_less_is_not(n: int) -> None:
    lost = paired.smallest_seen_losses(n, gains=2, level=0.99)
    assert lost is not None
    for losses, seen in ((lost, True), (lost - 1, False)):
        differences = [1.0] * 2 + [-1.0] * losses + [0.0] * (n - 2 - losses)
        interval = paired.rate_difference_interval(differences, 1, 0.99)
        assert interval is not None
        assert (interval.high < 0) == seen


def test_no_number_of_losses_is_seen_among_very_few_problems() -> None:
    assert paired.smallest_seen_losses(3, gains=0, level=0.99) is None


def test_the_smallest_seen_drop_has_the_power_that_statsmodels_gives_it() -> None:
    logs = list(np.random.default_rng(8).normal(0, 0.05, 50))
    drop = paired.smallest_seen_drop(logs, 0.99)
    assert drop is not None
    effect = -math.log(1 - drop) / np.std(logs, ddof=1)
    assert power.TTestPower().power(effect, 50, alpha=0.01) == pytest.approx(0.8, abs=0.01)


def test_no_drop_is_seen_where_problems_differ_beyond_measure() -> None:
    assert paired.smallest_seen_drop([2.0, -3.0], 0.99) is None


def test_without_problems_nothing_is_known() -> None:
    assert paired.rate_difference_interval([]) is None
    assert paired.ratio_interval([0.1]) is None
    assert paired.smallest_seen_drop([0.1], 0.99) is None
