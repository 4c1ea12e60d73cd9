"""Who did the work, from times by operator: what counts as own work, and what does not."""

from __future__ import annotations

import pytest

from kbench.referee.provenance import Shares, is_plain, policy_gate, quieter, shares_of

EAGER = {"call": 20.0, "aten::convolution": 900.0, "aten::relu": 60.0, "aten::add": 40.0, "aten::empty": 5.0}


def gate(policy: str, candidate: dict[str, float], eager: dict[str, float] | None = None) -> bool | None:
    reference = shares_of(eager if eager is not None else EAGER)
    return policy_gate(policy, shares_of(candidate), reference).passed


def test_what_allocates_or_describes_is_no_library_compute() -> None:
    assert shares_of({"call": 7.0, "aten::empty": 90.0, "aten::view": 3.0}) == Shares(7.0, False, {})


def test_a_copy_of_the_reference_is_no_own_work() -> None:
    assert gate("custom", EAGER | {"call": 26.0}) is False
    assert gate("any", EAGER) is True


def test_the_same_operators_under_another_name_are_no_own_work() -> None:
    renamed = {"call": 21.0, "aten::convolution": 900.0, "aten::clamp_min": 60.0, "aten::add": 40.0}
    assert gate("custom", renamed) is False


def test_own_code_beside_a_library_that_does_as_much_as_for_the_reference_is_no_own_work() -> None:
    # Of a call's time 30 % runs in own code: a decoy, or Python that looks for a library that is not there.
    assert gate("custom", EAGER | {"call": 20.0 + 420.0}) is False
    assert gate("custom", {"call": 440.0, "aten::conv2d": 900.0, "aten::clamp_min": 60.0, "aten::add": 40.0}) is False
    assert (
        gate("custom", {"call": 20.0 + 420.0, "aten::convolution": 600.0, "aten::relu": 60.0, "aten::add": 40.0})
        is True
    )
    assert (
        gate("custom", {"call": 20.0 + 1200.0, **{k: v for k, v in EAGER.items() if k != "call"}}) is True
    )  # it does most


def test_a_fused_tail_is_own_work_though_the_library_was_slower_beside_it_on_a_busy_machine() -> None:
    # The product took 30 % longer in the candidate's trace than in eager's, and so longer than all of eager's operators.
    assert gate("custom", {"call": 20.0 + 500.0, "aten::convolution": 1170.0}) is True


def test_a_fused_tail_behind_a_library_product_is_own_work() -> None:
    assert gate("custom", {"call": 20.0 + 30.0, "aten::convolution": 900.0}) is True
    assert gate("pure", {"call": 20.0 + 30.0, "aten::convolution": 900.0}) is False


def test_what_a_busy_machine_adds_to_one_trace_is_gone_after_the_next() -> None:
    busy = shares_of({"call": 200.0, "aten::convolution": 850.0, "aten::relu": 90.0})
    idle = shares_of({"call": 22.0, "aten::convolution": 900.0, "aten::relu": 60.0, "aten::add": 40.0})
    reference = shares_of(EAGER)
    assert policy_gate("custom", busy, reference).passed is True
    assert not is_plain(busy, reference)
    assert quieter(busy, idle) == Shares(
        22.0, False, {"aten::convolution": 850.0, "aten::relu": 60.0, "aten::add": 40.0}
    )
    assert policy_gate("custom", quieter(busy, idle), reference).passed is False


def test_that_one_trace_of_two_ran_compiled_code_is_kept() -> None:
    compiled = shares_of({"call": 500.0, "CompiledFxGraph": 1.0})
    assert quieter(compiled, shares_of({"call": 500.0})).compiled
    assert quieter(None, compiled) == compiled


def test_leaving_operators_out_is_not_enough() -> None:
    assert gate("custom", {"call": 22.0, "aten::convolution": 900.0}) is False


@pytest.mark.parametrize("mark", ["CompiledFxGraph abc", "Torch-Compiled Region: 0/0"])
def test_what_torch_compile_made_is_not_the_candidates(mark: str) -> None:
    assert gate("custom", {"call": 500.0, mark: 1.0}) is False


@pytest.mark.parametrize("policy", ["custom", "pure"])
def test_a_trace_that_shows_nothing_is_no_evidence(policy: str) -> None:
    assert gate(policy, {}) is False
    assert gate("any", {}) is True


def test_own_code_that_does_everything_is_pure() -> None:
    assert gate("pure", {"call": 400.0, "aten::empty": 5.0}) is True


def test_fused_code_as_cheap_as_eagers_python_is_own_work() -> None:
    # Measured: convolutions of the library, batch norm and ReLU in one pass of C++; eager's Python costs 280 us here.
    eager = {
        "call": 280.0,
        "aten::mkldnn_convolution": 900.0,
        "aten::native_batch_norm": 600.0,
        "aten::clamp_min": 200.0,
    }
    assert gate("custom", {"call": 260.0, "aten::mkldnn_convolution": 900.0}, eager)
    taken_over = {"call": 260.0, "aten::mkldnn_convolution": 900.0, "aten::mul": 400.0, "aten::var_mean": 300.0}
    assert not gate("custom", taken_over, eager)
