"""Is an output right? Its error against fp64 must stay within a budget that eager PyTorch's own error sets.

    error <= K_EAGER * (worst error of eager so far, same metric) + FLOOR_ULP ulp of rms(y)

in three metrics: relative L2, centred relative L2 (how y varies about its mean), and max over elements of
|error| / max(rms(y), |y|). There is no absolute tolerance. Structure and the non-finite mask are exact.

K_EAGER and FLOOR_ULP stand between the honest controls (a sequential fp32 sum over 4096 products has 5-10 times the error of
a blocked one) and the wrong solutions (TF32 and bf16 inside: hundreds of times).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from kbench.types import ErrorFigure, Mismatch

K_EAGER = 16.0
FLOOR_ULP = 4.0
# Of a few rows in place of a whole output, in fp32 or less: the sum of 2048 numbers taken one by one is off by 65 ulp now and then,
# where eager's is off by less than one, and nothing averages that out. TF32 and fp16 inside are off by ten times this and more.
ROW_FLOOR, ROW_FLOOR_ULP = 2.0**-15, 256.0
LEARNT_CALLS = 6  # whose eager error is taken; more only where a candidate would fail without
RESOLVED = 1e-6  # a variation below this share of rms(y) is not told from rounding in the sums
TINY = 1e-300
AT_ONCE = 1 << 26  # elements; what is made on the way takes 8 bytes for each
METRICS = ("relative_l2", "centred_l2", "max")


@dataclass(frozen=True, slots=True)
class Errors:
    """The three metrics of one output against fp64, and the floor of each in the same unit."""

    values: tuple[float, float, float]
    floors: tuple[float, float, float]


def error_of(actual: torch.Tensor, exact: torch.Tensor, eps: float, finite_alone: bool = False) -> Errors:
    """Metrics of actual (any float) against exact (fp64), where exact is finite; same shape. eps of the output's dtype.

    `finite_alone`: where actual is finite too. Whether an element may be infinite or NaN is then the mask's business
    (non_finite_differs); else one that is makes the errors infinite or NaN.
    """
    if exact.numel() and not math.isfinite(_largest(exact)):
        finite = exact.isfinite()
        actual, exact = actual[finite], exact[finite]
    n = exact.numel()
    if n == 0:
        return Errors((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    parts = list(zip(actual.reshape(-1).split(AT_ONCE), exact.reshape(-1).split(AT_ONCE), strict=True))
    sums = [0.0, 0.0, 0.0, 0.0]
    for mine, right in parts:
        error = mine.double() - right
        for i, value in enumerate((right.sum(), error.sum(), right.dot(right), error.dot(error))):
            sums[i] += float(value)
    if finite_alone and not all(map(math.isfinite, sums)):
        finite = actual.isfinite()
        return error_of(actual[finite], exact[finite], eps)
    mean, bias, square, error_square = (total / n for total in sums)
    rms, spread = math.sqrt(square), math.sqrt(max(square - mean * mean, 0.0))
    wobble = math.sqrt(max(error_square - bias * bias, 0.0))
    largest = 0.0
    for mine, right in parts:
        error = (mine.double() - right).abs_().div_(right.abs().clamp_min_(max(rms, TINY)))
        worst = float(error.max())
        largest = largest if worst <= largest or largest != largest else worst  # NaN stays
    values = (
        math.sqrt(error_square) / max(rms, TINY),
        wobble / spread if spread > RESOLVED * rms else 0.0,
        largest,
    )
    rounding = 0.5 * eps * rms / spread if spread > RESOLVED * rms else 0.0
    return Errors(values, (FLOOR_ULP * eps, FLOOR_ULP * eps + rounding, FLOOR_ULP * eps))


class Budget:
    """Eager's worst error so far for one output, and the candidate's; they only grow while a problem is judged."""

    def __init__(self, of_rows: bool = False) -> None:
        self.of_rows = of_rows
        self.eager = [0.0, 0.0, 0.0]
        self.candidate = [0.0, 0.0, 0.0]
        self.floors = [0.0, 0.0, 0.0]
        self.learnt = 0

    def learn(self, eager: Errors) -> None:
        self.learnt += 1
        self.eager = [max(a, b) for a, b in zip(self.eager, eager.values, strict=True)]
        self.floors = [max(a, b) for a, b in zip(self.floors, eager.floors, strict=True)]

    def limits(self) -> list[float]:
        least = min(ROW_FLOOR, ROW_FLOOR_ULP / FLOOR_ULP * self.floors[0]) if self.of_rows else 0.0
        return [K_EAGER * e + max(f, least) for e, f in zip(self.eager, self.floors, strict=True)]

    def admits(self, errors: Errors) -> bool:
        """Whether every metric lies within its limit; NaN does not."""
        self.candidate = [
            max(a, b) if b == b else float("inf") for a, b in zip(self.candidate, errors.values, strict=True)
        ]
        return all(value <= limit for value, limit in zip(errors.values, self.limits(), strict=True))

    def figures(self) -> list[ErrorFigure]:
        rows = zip(METRICS, self.candidate, self.eager, self.limits(), strict=True)
        return [ErrorFigure(metric, candidate, eager, limit) for metric, candidate, eager, limit in rows]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the comparison says of one tensor. `refusal` is "" where it is admitted."""

    refusal: str
    # Mask of the elements that are not finite where they should be, or the other way round.
    non_finite: torch.Tensor | None
    errors: Errors | None  # None where non-finite elements decided


def weigh(
    actual: torch.Tensor, exact: torch.Tensor, eager: torch.Tensor, budget: Budget, learnt: bool = False
) -> Weighed:
    """A floating tensor against the exact answer and eager's, within the budget, which learns eager's error.

    `learnt` says that the budget knows eager's error of this very call.
    """
    differs = non_finite_differs(actual, exact, eager)
    if differs is not None:
        return Weighed("NaN or infinity stands in the wrong places", differs, None)
    eps = torch.finfo(actual.dtype).eps
    errors = error_of(actual, exact, eps, finite_alone=True)
    if not learnt and (budget.learnt < LEARNT_CALLS or not budget.admits(errors)):
        budget.learn(error_of(eager, exact, eps, finite_alone=True))
    if budget.admits(errors):
        return Weighed("", None, errors)
    over = max(budget.figures(), key=lambda f: f.candidate / f.budget)
    told = f"{over.metric} error {over.candidate:.2e} against fp64, budget {over.budget:.2e} (eager: {over.eager:.2e})"
    return Weighed(told, None, errors)


def worst(budgets: Sequence[Budget]) -> tuple[ErrorFigure, ...]:
    """Per metric the output that used most of its budget."""
    tables = [budget.figures() for budget in budgets]
    columns = zip(*tables, strict=True)
    return tuple(max(column, key=lambda f: f.candidate / f.budget if f.budget else 0.0) for column in columns)


def non_finite_differs(actual: torch.Tensor, exact: torch.Tensor, eager: torch.Tensor) -> torch.Tensor | None:
    """Mask of elements whose NaN or infinity is neither that of fp64 (rounded to the dtype) nor eager's; None if none."""
    if exact.numel() == 0 or (_largest(actual) < math.inf and _largest(exact) <= torch.finfo(actual.dtype).max):
        return None
    rounded = exact.to(actual.dtype)
    mine = _kind(actual)
    wrong = (mine != _kind(rounded)) & (mine != _kind(eager.to(actual.dtype)))
    return wrong if bool(wrong.any()) else None


def _largest(value: torch.Tensor) -> float:
    """Largest magnitude; NaN where there is one, which is below nothing."""
    low, high = torch.aminmax(value)
    return max(float(low.abs()), float(high.abs())) if bool(low == low) else math.nan


def _kind(value: torch.Tensor) -> torch.Tensor:
    """0 finite, 1 NaN, 2 +inf, 3 -inf."""
    return value.isnan().to(torch.int8) + 2 * value.isposinf() + 3 * value.isneginf()


def first_wrong(name: str, wrong: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor) -> Mismatch:
    """The first element of the mask, in row-major order."""
    flat = int(wrong.reshape(-1).to(torch.int8).argmax()) if wrong.numel() else 0
    index, left = [], flat
    for size in reversed(wrong.shape):
        index.append(left % size)
        left //= size
    place = tuple(reversed(index))
    shown = (float(actual[place]), float(exact[place]))
    return Mismatch(name, place, shown[0], shown[1], int(wrong.sum()), wrong.numel())


def outside_budget(actual: torch.Tensor, exact: torch.Tensor, budget: Budget) -> torch.Tensor:
    """Mask of the elements that break the max metric, or of the worst one where only a norm is broken."""
    finite = exact.isfinite()
    rms = float(exact[finite].square().mean().sqrt()) if bool(finite.any()) else 1.0
    scaled = (actual.double() - exact).abs() / exact.abs().clamp_min(max(rms, TINY))
    scaled = torch.where(finite, scaled, torch.zeros_like(scaled))
    mask = ~(scaled <= budget.limits()[2])
    return mask if bool(mask.any()) else scaled == scaled.max()
