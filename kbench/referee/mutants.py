"""The family of wrong solutions that every problem is tried with, made without knowing the problem.

Some answers are made here of right ones (zeros, another call's, a stale tail), others by the problem's process with one
thing changed (an input, a weight, an operator). A mutant is tried on one output after another, and on every value family
until it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from kbench.referee.stand import Stand

Made = Callable[[Stand, int, int], torch.Tensor | None]  # stand, place, output -> an answer, None where there is none
TAIL_SHARE = 16  # a tail is the last 1/16 of an axis, at least one
SKIPPED_SHARE = 0.01
ROUNDINGS = ("bfloat16", "float16", "tf32")
SAMPLED = 4  # weights that are tried zeroed, and as many as constructed


@dataclass(frozen=True, slots=True)
class Mutant:
    """`made` makes one output's answer in the lane; `change` has the problem's process make all of them."""

    name: str
    group: str  # "null", "axis", "input", "parameter", "work", "rounding", "operator"
    output: int | None = None  # the only output that it concerns; None for all
    made: Made | None = None
    change: dict[str, Any] | None = None


def in_lane(stand: Stand) -> Iterator[Mutant]:
    """The mutants whose answers are made of right ones."""
    for output, leaf in enumerate(stand.layout.outputs):
        of = "" if len(stand.layout.outputs) == 1 else f" in output[{output}]"
        floating = stand.exact(0, output).dtype == torch.float64
        yield Mutant(f"zeros{of}", "null", output, zeros)
        yield Mutant(f"another input's answer{of}", "null", output, other)
        if floating and leaf.elements > 1:
            yield Mutant(f"mean of the output{of}", "null", output, mean)
        for i, argument in enumerate(stand.layout.leaves):
            if argument.shape == leaf.shape and argument.dtype == leaf.dtype:
                yield Mutant(f"input {i} handed back{of}", "null", output, handed_back(i))
        for axis, size in enumerate(leaf.shape):
            if size > 1:
                yield Mutant(f"axis {axis} shifted by one{of}", "axis", output, shifted(axis))
                yield Mutant(f"axis {axis} in another order{of}", "axis", output, shuffled(axis))
                yield Mutant(f"last part of axis {axis} stale{of}", "work", output, stale_tail(axis))
                yield Mutant(f"last part of axis {axis} zero{of}", "work", output, zero_tail(axis))
            if size > 1 and floating:
                yield Mutant(f"axis {axis} constant at its mean{of}", "axis", output, constant(axis))
        if leaf.elements > 1:
            yield Mutant(f"1 % of the elements stale{of}", "work", output, stale_share)
        for kind in ("bfloat16", "float16"):
            if leaf.dtype == "float32":
                yield Mutant(f"output in {kind}{of}", "rounding", output, rounded(kind))


def in_process(stand: Stand, outline: dict[str, Any], quick: bool) -> Iterator[Mutant]:
    """The mutants whose answers the problem's process makes."""
    for i, leaf in enumerate(stand.layout.leaves):
        if leaf.elements and not torch.equal(stand.input(0, i), stand.input(1, i)):
            yield Mutant(f"input {i} ignored", "input", change={"kind": "inputs", "leaf": i})
            if leaf.shape and leaf.shape[0] > 1:
                yield Mutant(f"last part of input {i} ignored", "work", change={"kind": "tail", "leaf": i})
    names = [n for n in (*outline["parameters"], *outline["buffers"]) if n not in stand.description["mutated"]]
    seed = stand.weight_seed + 1
    for name in names:
        yield Mutant(
            f"{name} ignored", "parameter", change={"kind": "state", "name": name, "how": "anew", "seed": seed}
        )
    first = stand.weight_seed
    for name in spread(names, SAMPLED):
        yield Mutant(f"{name} left out", "work", change={"kind": "state", "name": name, "how": "zero", "seed": first})
        told = f"{name} as it was constructed"
        yield Mutant(told, "work", change={"kind": "state", "name": name, "how": "constructed", "seed": first})
    for kind in ROUNDINGS:
        yield Mutant(f"inputs and weights in {kind}", "rounding", change={"kind": "round", "to": kind})
    for item in outline["alterations"]:
        told = f"{item['operator']} #{item['occurrence']}: {ALTERED[item['how']]}"
        if item["how"] != "skip" or not quick:
            yield Mutant(told, "operator", change={"kind": "alter", **item})


ALTERED = {
    "skip": "left out",
    "eps": "ten times its eps",
    "naive": "the maximum is not taken off",
    "tanh": "the other form of GELU",
    "correction": "the other variance",
    "tail": "the last summand left out",
}


def spread(items: list[str], count: int) -> list[str]:
    """At most `count` of the items, evenly from the first to the last."""
    if len(items) <= count:
        return items
    return [items[i * (len(items) - 1) // (count - 1)] for i in range(count)]


def zeros(stand: Stand, place: int, output: int) -> torch.Tensor:
    return torch.zeros_like(stand.eager(place, output))


def mean(stand: Stand, place: int, output: int) -> torch.Tensor:
    right = stand.exact(place, output)
    return torch.full_like(stand.eager(place, output), float(right[right.isfinite()].mean()))


def other(stand: Stand, place: int, output: int) -> torch.Tensor:
    return stand.eager(place ^ 1, output)


def handed_back(leaf: int) -> Made:
    return lambda stand, place, output: stand.input(place, leaf)


def shifted(axis: int) -> Made:
    return lambda stand, place, output: stand.eager(place, output).roll(1, axis)


def shuffled(axis: int) -> Made:
    def made(stand: Stand, place: int, output: int) -> torch.Tensor:
        right = stand.eager(place, output)
        order = torch.randperm(right.shape[axis])
        order = order if bool((order.diff() < 0).any()) else order.flip(0)  # another order it must be
        return right.index_select(axis, order.to(right.device))

    return made


def constant(axis: int) -> Made:
    def made(stand: Stand, place: int, output: int) -> torch.Tensor:
        right = stand.eager(place, output)
        return right.double().mean(axis, keepdim=True).to(right.dtype).expand(right.shape).contiguous()

    return made


def stale_tail(axis: int) -> Made:
    def made(stand: Stand, place: int, output: int) -> torch.Tensor:
        answer, old = stand.eager(place, output).clone(), other(stand, place, output)
        tail_of(answer, axis).copy_(tail_of(old, axis))
        return answer

    return made


def zero_tail(axis: int) -> Made:
    def made(stand: Stand, place: int, output: int) -> torch.Tensor:
        answer = stand.eager(place, output).clone()
        tail_of(answer, axis).zero_()
        return answer

    return made


def tail_of(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    size = tensor.shape[axis]
    count = max(1, size // TAIL_SHARE)
    return tensor.narrow(axis, size - count, count)


def stale_share(stand: Stand, place: int, output: int) -> torch.Tensor:
    answer = stand.eager(place, output).clone().reshape(-1)
    count = max(1, int(SKIPPED_SHARE * answer.numel()))
    chosen = torch.randperm(answer.numel(), device=answer.device)[:count]
    answer[chosen] = other(stand, place, output).reshape(-1)[chosen]
    return answer.reshape(stand.eager(place, output).shape)


def rounded(kind: str) -> Made:
    def made(stand: Stand, place: int, output: int) -> torch.Tensor:
        right = stand.eager(place, output)
        return right.to(getattr(torch, kind)).to(right.dtype)

    return made
