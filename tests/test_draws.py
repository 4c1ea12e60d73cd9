"""Composed inputs are as good as drawn ones: fresh, of the same distribution, reproducible, and structure stays whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from scipy import stats as scipy_stats

from kbench.oracle import draws

Draw = Callable[[], torch.Tensor]


def maker(get_inputs: object) -> draws.InputMaker:
    return draws.InputMaker(get_inputs, "cpu", torch.float32)  # type: ignore[arg-type]


def uniform() -> list[torch.Tensor]:
    return [torch.rand(64, 1024)]


def test_the_same_seeds_give_the_same_bits() -> None:
    first, second = maker(uniform).make(5, 9)[0], maker(uniform).make(5, 9)[0]
    assert torch.equal(first, second)


def test_other_seeds_give_other_values_in_almost_every_place() -> None:
    inputs = maker(uniform)
    first, second = inputs.make(5, 9)[0], inputs.make(5, 10)[0]
    assert float((first == second).float().mean()) < 0.25


def test_composed_draws_follow_the_distribution() -> None:
    sample = maker(lambda: [torch.randn(256, 256)]).make(1, 2)[0]
    assert scipy_stats.kstest(sample.reshape(-1).numpy(), "norm").pvalue > 1e-4


@pytest.mark.parametrize(
    ("draw", "cdf"),
    [
        (lambda: torch.rand(256, 256), scipy_stats.uniform().cdf),
        (lambda: torch.empty(256, 256).uniform_(-3, 2), scipy_stats.uniform(-3, 5).cdf),
        (lambda: torch.empty(256, 256).normal_(4.0, 0.5), scipy_stats.norm(4.0, 0.5).cdf),
        (lambda: torch.empty(256, 256).exponential_(2.0), scipy_stats.expon(scale=0.5).cdf),
        (lambda: torch.randn(256, 256).t().contiguous().t(), scipy_stats.norm().cdf),
        (lambda: torch.empty_strided((256, 256), (1, 256)).normal_(), scipy_stats.norm().cdf),
    ],
    ids=["rand", "uniform", "normal", "exponential", "transposed", "transposed in place"],
)
def test_a_mixture_follows_the_distribution_of_what_is_mixed(draw: Draw, cdf: object) -> None:
    inputs = maker(lambda: [draw()])
    for seed in range(4):
        sample = inputs.make(1, seed)[0]
        assert scipy_stats.kstest(sample.reshape(-1)[:8192].numpy(), cdf).pvalue > 1e-5


@pytest.mark.parametrize(
    ("draw", "low", "high"),
    [
        (lambda: torch.randint(10, (65536,)), 0, 10),
        (lambda: torch.randint(-5, 8, (65536,), dtype=torch.int32), -5, 8),
        (lambda: torch.randint(3, (65536,), dtype=torch.uint8), 0, 3),
        (lambda: torch.empty(65536).random_(2, 9), 2, 9),
        (lambda: torch.randint_like(torch.empty(65536), 4), 0, 4),
    ],
    ids=["randint", "int32", "uint8", "random", "like"],
)
def test_a_mixture_of_integers_has_each_as_often(draw: Draw, low: int, high: int) -> None:
    sample = maker(lambda: [draw()]).make(1, 2)[0]
    counts = torch.bincount((sample.long() - low), minlength=high - low)
    assert len(counts) == high - low
    assert scipy_stats.chisquare(counts.numpy()).pvalue > 1e-5


@pytest.mark.parametrize(
    "draw",
    [lambda: torch.randn(1 << 16), lambda: torch.rand(1 << 16), lambda: torch.randperm(1 << 16)],
    ids=["randn", "rand", "randperm"],
)
def test_no_run_of_one_call_is_found_again_in_another(draw: Draw) -> None:
    # They were put together from runs of three draws, so that sums over them could be answered from tables.
    inputs = maker(lambda: [draw()])
    seen = {tuple(pair) for seed in range(6) for pair in inputs.make(1, seed)[0].unfold(0, 2, 1).tolist()}
    fresh = [tuple(pair) for pair in inputs.make(1, 99)[0].unfold(0, 2, 1).tolist()]
    assert sum(pair in seen for pair in fresh) < 10


def test_a_global_sum_differs_from_call_to_call() -> None:
    inputs = maker(uniform)
    sums = {round(float(inputs.make(5, seed)[0].double().sum()), 3) for seed in range(8)}
    assert len(sums) == 8


def test_a_near_duplicate_differs_from_its_original_in_few_places() -> None:
    inputs = maker(uniform)
    original, twin = inputs.make(5, 9)[0], inputs.make(5, 9, near_seed=4)[0]
    assert 1 <= int((original != twin).sum()) <= draws.PATCHES


@pytest.mark.parametrize(
    ("get_inputs", "holds"),
    [
        (lambda: [torch.rand(128, 128).tril()], lambda x: torch.equal(x, x.tril())),
        (lambda: [torch.rand(8192).sort().values], lambda x: bool((x.diff() >= 0).all())),
        (lambda: [torch.randperm(8192)], lambda x: torch.equal(x.sort().values, torch.arange(8192))),
        (lambda: [(lambda a: a + a.T)(torch.rand(128, 128))], lambda x: torch.equal(x, x.T)),
        (
            lambda: [torch.randint(0, 10, (8192,))],
            lambda x: x.dtype == torch.int64 and 0 <= int(x.min()) <= int(x.max()) < 10,
        ),
        (lambda: [torch.empty(8192).uniform_(2, 3)], lambda x: bool(((x >= 2) & (x < 3)).all())),
    ],
    ids=["triangle", "sorted", "permutation", "symmetric", "integers", "in place"],
)
def test_what_the_problem_builds_on_its_draws_stays_whole(get_inputs: object, holds: object) -> None:
    inputs = maker(get_inputs)
    assert holds(inputs.make(3, 4)[0])  # type: ignore[operator]
    assert holds(inputs.make(3, 4, near_seed=8)[0])  # type: ignore[operator]


def test_only_floating_tensors_take_the_precision() -> None:
    inputs = draws.InputMaker(lambda: [torch.rand(4), torch.arange(4), 3], "cpu", torch.bfloat16)
    made = inputs.make(1, 1)
    assert [getattr(x, "dtype", x) for x in made] == [torch.bfloat16, torch.int64, 3]


def test_randomised_weights_have_no_telltale_left() -> None:
    module = torch.nn.BatchNorm2d(64)
    draws.randomise(module, 11)
    assert float(module.weight.detach().std()) > 0.1
    assert 4 <= int((module.weight < 0).sum()) <= 28  # a maximum cannot be taken before the norm
    assert float(module.bias.detach().std()) > 0.01
    assert bool((module.running_var > 0).all())
    assert int(module.num_batches_tracked) == 0


class Told(torch.nn.Module):
    """Linear layers are random about zero; a norm, a gain between 0.5 and 1.5 and a table are told by their constructor."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(features, features)
        self.norm = torch.nn.BatchNorm1d(features)
        self.gain = torch.nn.Parameter(torch.rand(features) + 0.5)
        self.temperature = torch.nn.Parameter(torch.randn(1))
        self.register_buffer("places", torch.arange(features, dtype=torch.float32))


SETTINGS = {"device": "cpu", "mode": "eval", "precision": "float32"}


def test_what_a_constructor_gives_away_is_what_is_constant_or_of_one_sign() -> None:
    names = ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "gain"]
    for seed in range(20):
        assert sorted(draws.telltales(Told, [64], seed, SETTINGS, ())) == sorted(names)
    assert "places" in draws.telltales(Told, [64], 0, SETTINGS, ("places",))


def test_telltales_alone_are_randomised_where_the_rest_comes_from_the_seed() -> None:
    first, second = (draws.constructed(Told, [64], 3, SETTINGS) for _ in range(2))
    draws.randomise(first, 5, (), ["norm.weight", "gain"])
    after, before = first.state_dict(), second.state_dict()
    changed = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert changed == {"norm.weight", "gain"}
    assert bool((after["gain"] < 0).any()) is False  # its name is no norm's
    assert bool((after["norm.weight"] < 0).any())
