"""A bench for the problem itself: its inputs, its right answers and wrong ones, compared by the judging's own comparison.

No worker runs here: answers come from the problem's process, or are made of right ones in the lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from kbench import environment
from kbench.candidate import memory
from kbench.errors import ProblemError
from kbench.referee import compare
from kbench.referee.bench import Bench, new_seed
from kbench.referee.case import QUICK
from kbench.referee.checks import Checks
from kbench.referee.layout import Answer, lay_out
from kbench.referee.oracle import Oracle
from kbench.referee.outputs import Wrong, output_name
from kbench.referee.stages import Stages
from kbench.types import FailedCall

MEMORY_SHARE = 0.4  # of what is free, for inputs and answers together


@dataclass(frozen=True, slots=True)
class Reception:
    """What the comparison said of one answer: the refusal, or "" where it was admitted."""

    refusal: str
    error: float | None  # relative L2 against fp64; None for integers
    share: float | None  # of the budget, in the metric that used most of it


class Stand(Bench):
    """Two calls of every value family of a group, of as many families as memory holds at once; one group after another.

    Place 2f is the first call of the group's family f, 2f + 1 the second; `spare` is the slot, and the place of an answer, of no call.
    """

    def prepare(self, compiled: bool, lanes: int = 1) -> None:
        """`lanes` share the device's memory."""
        self.references.box.wait_ready()
        server = self.references.server("compile" if compiled else "eager")
        self.oracle = Oracle(server, self.scratch, self.device, role="admission")
        self.path = self.references.add(self.problem.content_hash, self.problem.source)
        self.description = self.oracle.describe(self.problem, self.path, new_seed())
        if self.description["stochastic"]:
            raise ProblemError("forward is random: two calls on one input differ, so no kernel can be judged by it")
        self.groups = self.family_groups(lanes)
        self.families = self.groups[0]
        self.spare = 2 * len(self.families)
        places = self.spare + 1
        self.layout = lay_out(self.description, slots=places, checked=places)
        self.oracle.map(self.layout, self.description["arguments"])
        self.checks = Checks(self, QUICK, Stages())
        self.master_seed = new_seed()
        self.selected: set[tuple[int, int]] = set()

    def family_groups(self, lanes: int) -> list[tuple[str, ...]]:
        """The problem's value families in their order, as many in each group as memory has room for; at least one."""
        free = environment.available_bytes() if self.problem.device == "cpu" else torch.cuda.mem_get_info()[0]
        families, size = self.problem.families, len(self.problem.families)
        while size > 1 and self.needed_bytes(size) > MEMORY_SHARE * free / lanes:
            size -= 1
        return [families[first : first + size] for first in range(0, len(families), size)]

    def needed_bytes(self, families: int) -> int:
        layout = lay_out(self.description, slots=2 * families + 1, checked=2 * families + 1)
        return layout.region_bytes + layout.expected_bytes

    @property
    def firsts(self) -> range:
        """The places of the first call of every family of the group."""
        return range(0, 2 * len(self.families), 2)

    def draw(self, randomised: str) -> None:
        """New weights, and the first group's calls; the budgets learn from eager's answers."""
        self.checks.budgets.clear()
        self.weight_seed = new_seed()
        self.make_weights(self.weight_seed, randomised)
        self.turn_to(self.groups[0])

    def turn_to(self, group: tuple[str, ...]) -> None:
        """Inputs of all calls of a group and their right answers, with the weights that are there."""
        self.families = group
        places = range(2 * len(group))
        self.recipes = {slot: self.recipe(group[slot // 2]) for slot in places}
        self.fill(self.recipes)
        self.selected = set()
        if self.stateful:  # every call from the same state
            for place in places:
                self.answer_alone(place)
        else:
            self.selected = self.expect(places, places, state=False)
        for place in places:
            for output in range(len(self.layout.outputs)):
                self.receive(place, output, self.eager(place, output), learnt=False)

    def answer_alone(self, place: int) -> None:
        assert self.oracle is not None
        targets = [[answer.plain() for answer in self.layout.answers[place]]]
        self.oracle.ask(
            do="expect", bases=[self.layout.slots[place]], want=[0], stateful=True, state=[], targets=targets
        )

    def recipe(self, family: str) -> FailedCall:
        return FailedCall(self.master_seed, new_seed(), family, None, self.weight_seed, 0)

    def answer(self, place: int, output: int) -> Answer:
        return self.layout.answers[place][output]

    def eager(self, place: int, output: int) -> torch.Tensor:
        assert self.oracle is not None
        return self.oracle.value(self.answer(place, output).eager)

    def exact(self, place: int, output: int) -> torch.Tensor:
        assert self.oracle is not None
        return self.oracle.value(self.answer(place, output).exact)

    def input(self, place: int, leaf: int) -> torch.Tensor:
        """A view of one input tensor of a call, in staging."""
        found = self.layout.leaves[leaf]
        at = self.layout.slots[place] + found.offset
        return memory.view(self.staging.flat, at, found.dtype, found.shape, found.stride)

    def receive(self, place: int, output: int, actual: torch.Tensor, learnt: bool = True) -> Reception:
        """What the judging would say of `actual` as that output of that call; budgets are `learnt` once `draw` has ended."""
        name, exact = output_name(self.layout, output), self.exact(place, output)
        if exact.dtype == torch.int64:
            return Reception(self.refused_integers(name, place, output, actual), None, None)
        budget = self.checks.budgets.setdefault((name, self.families[place // 2]), compare.Budget())
        budget.candidate = [0.0, 0.0, 0.0]  # every answer is one candidate's
        weighed = compare.weigh(actual, exact, self.eager(place, output), budget, learnt)
        if weighed.errors is None:
            return Reception(weighed.refusal, None, None)
        pairs = zip(weighed.errors.values, budget.limits(), strict=True)
        share = max(value / limit if limit else 0.0 for value, limit in pairs)
        return Reception(weighed.refusal, weighed.errors.values[0], share)

    def refused_integers(self, name: str, place: int, output: int, actual: torch.Tensor) -> str:
        index = (place, output) if (place, output) in self.selected else None
        try:
            self.checks.value(name, actual, *self.checks.answers(self.answer(place, output)), index)
        except Wrong as wrong:
            return wrong.evidence
        return ""

    def variant(self, place: int, change: dict[str, Any]) -> tuple[list[torch.Tensor], bool]:
        """Eager's answer on that call's inputs with a change, and whether the change came to bear."""
        assert self.oracle is not None
        targets = [answer.eager.plain() for answer in self.layout.answers[self.spare]]
        answer = self.oracle.ask(do="variant", base=self.layout.slots[place], change=change, targets=targets)
        return [self.eager(self.spare, output) for output in range(len(targets))], bool(answer["done"])

    def is_right(self, place: int, change: dict[str, Any]) -> bool:
        """Whether the change leaves the fp64 answer as it is, to within an ulp; False where there is no fp64 form."""
        assert self.oracle is not None
        return bool(self.oracle.ask(do="same", base=self.layout.slots[place], change=change)["same"])
