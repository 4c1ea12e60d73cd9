"""Problems made smaller by their module constants."""

from __future__ import annotations

from kbench import shrink

SOURCE = """
batch_size = 64
D, H = 32, 2 * 16
features = 128
shape = (4, 5)

def get_inputs():
    return [rand(batch_size, features, D, H)]

def get_init_inputs():
    return [features]
"""


def size(source: str) -> float:
    known = shrink.constants(source)
    return known["batch_size"] * known["features"] * known["D"] * known["H"] / 1e4


def test_constants_are_literals_and_arithmetic_of_literals() -> None:
    assert shrink.constants(SOURCE) == {"batch_size": 64, "D": 32, "H": 32, "features": 128}


def test_the_batch_goes_first_and_what_the_constructor_sees_last() -> None:
    assert shrink.order_of(SOURCE) == ["batch_size", "D", "H", "features"]


def test_a_reduced_source_has_the_wanted_constants_and_no_others() -> None:
    found = shrink.constants(shrink.reduced(SOURCE, {"H": 3, "batch_size": 2}))
    assert found == {"batch_size": 2, "D": 32, "H": 3, "features": 128}


def test_a_problem_is_reduced_until_it_is_small_enough() -> None:
    values = shrink.shrunk(SOURCE, lambda source: size(source) / 100)
    assert values == {"batch_size": 4}  # 8.4 times too large: four halvings
    assert size(shrink.reduced(SOURCE, values)) <= 100


def test_what_does_not_run_when_it_is_smaller_keeps_its_constant() -> None:
    def measure(source: str) -> float | None:
        known = shrink.constants(source)
        return size(source) / 100 if known["batch_size"] == 64 else None

    assert "batch_size" not in shrink.shrunk(SOURCE, measure)


def test_a_problem_that_is_small_enough_stays_as_it_is() -> None:
    assert shrink.shrunk(SOURCE, lambda source: 1.0) == {}
