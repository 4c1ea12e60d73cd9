"""The error budget: honest rounding passes, low precision and dropped work do not, and NaN is never a wildcard."""

from __future__ import annotations

import pytest
import torch

from kbench.referee import compare

EPS = 2.0**-23


def admitted(actual: torch.Tensor, exact: torch.Tensor, eager: torch.Tensor) -> bool:
    budget = compare.Budget()
    budget.learn(compare.error_of(eager, exact, EPS))
    return budget.admits(compare.error_of(actual, exact, EPS))


@pytest.fixture
def product() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    a, b = torch.randn(128, 2048), torch.randn(2048, 96)
    return a, b, a.double() @ b.double(), a @ b


def test_a_sequential_fp32_sum_is_admitted_beside_a_blocked_one(product: tuple[torch.Tensor, ...]) -> None:
    a, b, exact, eager = product
    actual = torch.zeros(128, 96)
    for k in range(2048):
        actual += a[:, k : k + 1] * b[k]
    assert admitted(actual, exact, eager)


def test_a_row_summed_one_by_one_is_admitted_and_one_of_lower_precision_is_not() -> None:
    torch.manual_seed(5)
    x = torch.randn(256, 2048) * 10 ** (torch.rand(256, 1) * 4 - 2)
    exact, eager = torch.softmax(x.double(), -1), torch.softmax(x, -1)
    powers = torch.exp(x - x.amax(-1, keepdim=True))
    total = torch.zeros(256)
    for column in range(2048):
        total += powers[:, column]
    one_by_one, half = powers / total[:, None], torch.softmax(x.half().float(), -1)
    refused, caught = 0, 0
    for row in range(256):  # alone, as a row of a call that is not checked whole
        budget = compare.Budget(of_rows=True)
        budget.learn(compare.error_of(eager[row], exact[row], EPS))
        assert budget.admits(compare.error_of(one_by_one[row], exact[row], EPS))
        caught += not budget.admits(compare.error_of(half[row], exact[row], EPS))
        refused += not admitted(one_by_one[row], exact[row], eager[row])
    assert refused > 3  # by the budget of whole outputs
    assert caught > 128  # rows that are nearly one-hot, or nearly uniform, do not tell


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_row_of_a_coarse_type_is_held_to_its_own_rounding(dtype: torch.dtype) -> None:
    eps = torch.finfo(dtype).eps
    exact = torch.linspace(1, 2, 64, dtype=torch.float64)
    budget = compare.Budget(of_rows=True)
    budget.learn(compare.error_of(exact.to(dtype), exact, eps))
    assert budget.admits(compare.error_of(exact.to(dtype), exact, eps))
    assert not budget.admits(compare.error_of((exact * 1.2).to(dtype), exact, eps))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_inside_is_refused(product: tuple[torch.Tensor, ...], dtype: torch.dtype) -> None:
    a, b, exact, eager = product
    assert not admitted((a.to(dtype) @ b.to(dtype)).float(), exact, eager)


def test_tf32_inside_is_refused(product: tuple[torch.Tensor, ...]) -> None:
    a, b, exact, eager = product

    def tf32(x: torch.Tensor) -> torch.Tensor:
        return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)

    assert not admitted(tf32(a) @ tf32(b), exact, eager)


def test_one_percent_of_the_work_dropped_is_refused(product: tuple[torch.Tensor, ...]) -> None:
    _, _, exact, eager = product
    actual = eager.clone()
    actual.view(-1)[-len(actual.view(-1)) // 100 :] = 0
    assert not admitted(actual, exact, eager)


def test_a_candidate_nearer_to_the_truth_than_eager_is_admitted() -> None:
    x = torch.randn(4096, 32) + 100
    exact = (x.double() ** 2).mean(-1) - x.double().mean(-1) ** 2
    eager = (x * x).mean(-1) - x.mean(-1) ** 2
    assert admitted(x.double().var(-1, unbiased=False).float(), exact, eager)


def test_zeros_are_refused_however_small_the_output_is() -> None:
    exact = torch.randn(1000).double() * 1e-9
    assert not admitted(torch.zeros(1000), exact, exact.float())


def test_the_mean_is_refused_however_large_it_is() -> None:
    exact = 1e4 + torch.randn(1000).double()
    assert not admitted(torch.full((1000,), float(exact.mean())), exact, exact.float())


def test_nan_is_never_within_budget() -> None:
    exact = torch.randn(10).double()
    actual = exact.float()
    actual[3] = float("nan")
    assert not admitted(actual, exact, exact.float())
    assert compare.non_finite_differs(actual, exact, exact.float()) is not None


def test_the_non_finite_mask_must_match_in_kind() -> None:
    exact = torch.tensor([1.0, float("inf"), float("nan")], dtype=torch.float64)
    same = exact.float()
    assert compare.non_finite_differs(same, exact, same) is None
    flipped = torch.tensor([1.0, float("-inf"), float("nan")])
    assert compare.non_finite_differs(flipped, exact, same) is not None


def test_an_overflow_that_eager_has_too_is_no_fault() -> None:
    exact = torch.tensor([1e6], dtype=torch.float64)
    assert compare.non_finite_differs(exact.half(), exact, exact.half()) is None


def test_an_overflow_that_eager_has_too_leaves_the_other_elements_to_be_weighed() -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    exact[7] = 1e6  # infinite in fp16, for eager and for an honest kernel
    eager = exact.half()
    assert compare.weigh(exact.half(), exact, eager, compare.Budget()).refusal == ""
    wrong = exact.half()
    wrong[3] += 0.5
    assert compare.weigh(wrong, exact, eager, compare.Budget()).refusal
    finite = exact.half()
    finite[7] = 60000.0
    assert compare.weigh(finite, exact, eager, compare.Budget()).refusal


def test_an_overflow_of_eagers_alone_widens_no_budget() -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    eager, budget = exact.half(), compare.Budget()
    eager[7] = float("inf")  # on the way to an answer that is small
    assert compare.weigh(exact.half(), exact, eager, budget).refusal == ""
    assert max(budget.limits()) < 0.1
    wrong = exact.half()
    wrong[3] += 0.5
    assert compare.weigh(wrong, exact, eager, budget).refusal


def test_the_first_wrong_element_is_named_in_row_major_order() -> None:
    mask = torch.zeros(2, 3, dtype=torch.bool)
    mask[1, 0] = mask[1, 2] = True
    found = compare.first_wrong("output", mask, torch.ones(2, 3), torch.zeros(2, 3))
    assert found.index == (1, 0)
    assert (found.wrong_elements, found.total_elements) == (2, 6)
