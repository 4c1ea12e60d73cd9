"""What the lane looks at while a candidate stands frozen after a block: inputs, outputs, state. And leaves decoys."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import torch

from kbench import devices
from kbench.referee import compare, outputs
from kbench.referee.bench import Bench
from kbench.referee.case import Protocol
from kbench.referee.layout import Answer
from kbench.referee.outputs import Published, Wrong, output_name
from kbench.referee.stages import Stages
from kbench.referee.worker import Block, Worker
from kbench.types import FailedCall, Gate, Mismatch, Status

SETTLE_S = 1.0  # how long an unfinished output is given to become right, to tell "late" from "wrong"
BY_ROWS = ", by rows"
MOST_WHOLE = 40  # calls of a block
COPIES_BYTES = 256 << 20  # of a block's outputs, at once; but for those whose answers there is room for
STATE_CHECK_CALLS = 8  # a changing state is followed through blocks of at most so many calls
_random = random.SystemRandom()


class Checks:
    """Gathers evidence over a judging. What looks at a candidate's block raises outputs.Wrong at the first failure."""

    def __init__(self, bench: Bench, protocol: Protocol, stage: Stages) -> None:
        self.bench, self.stage = bench, stage
        # By output and value family: eager is not alike in all.
        self.budgets: dict[tuple[str, str], compare.Budget] = {}
        self.checked = self.sliced = self.blocks = self.state_checks = self.decoys = 0
        self.mismatch: Mismatch | None = None
        self.failed_call: FailedCall | None = None
        self.room = len(bench.layout.answers)
        returned = sum(leaf.size_bytes for leaf in bench.layout.outputs)
        copies = max(self.room, COPIES_BYTES // max(returned, 1))
        self.checks_a_block = max(1, min(protocol.checks_a_block(bench.description["call_us"]), copies, MOST_WHOLE))
        self.sure = min(self.room, self.checks_a_block)  # of these; more while `block_s` lasts
        self.block_s = protocol.block_s

    def block(
        self, worker: Worker, block: Block, rows: list[list[Published]], recipes: dict[int, FailedCall],
        taken_all: Callable[[], None],
    ) -> None:  # fmt: skip
        """`taken_all` is called when the lane has copies of everything that it looks at."""
        chosen = self.choose(block, recipes)
        picked = self.pick_rows(block, chosen[: self.sure])
        slices = {
            call: [outputs.take(worker.hands, outputs.row(item, at)) for item in rows[call]]
            for call, at in picked.items()
        }
        taken = {call: [outputs.take(worker.hands, item) for item in rows[call]] for call in chosen}
        states = self.read_state(worker, block)
        taken_all()
        self.blocks += 1
        self.inputs(worker, block, rows)
        with self.stage("decoys"):
            self.leave_decoys(worker, rows, taken)
        follow = self.bench.stateful and len(rows) <= STATE_CHECK_CALLS
        self.whole(worker, block, rows, recipes, taken, follow)
        self.rows(worker, block, rows, picked, slices, recipes)
        self.state(states, follow)

    def whole(
        self, worker: Worker, block: Block, rows: list[list[Published]], recipes: dict[int, FailedCall],
        taken: dict[int, list[torch.Tensor]], follow: bool,
    ) -> None:  # fmt: skip
        """The calls in `taken`, as many at once as memory holds answers of: the first so many always, the others for as long as a
        block's checks may take. `follow`: the state after the block is asked for too."""
        started, order = time.monotonic(), list(taken)
        for first in range(0, len(order), self.room):
            if first and time.monotonic() - started > self.block_s:
                return
            chosen = sorted(order[first : first + self.room])
            self.some(worker, block, rows, recipes, chosen, taken, follow and not first)

    def some(
        self, worker: Worker, block: Block, rows: list[list[Published]], recipes: dict[int, FailedCall],
        chosen: Sequence[int], taken: dict[int, list[torch.Tensor]], follow: bool,
    ) -> None:  # fmt: skip
        with self.stage("oracle"):
            selected = self.bench.expect(block.slots, chosen, follow)
        for place, call in enumerate(chosen):
            self.failed_call = replace(recipes[block.slots[call]], calls_before=call)
            for item, actual in zip(rows[call], taken[call], strict=True):
                try:
                    self.output(place, item, actual, (place, item.output) in selected, self.failed_call.family)
                except Wrong as wrong:
                    raise self.late_or_wrong(worker, item, wrong) from wrong
            self.checked += 1
        self.failed_call = None

    def pick_rows(self, block: Block, chosen: Sequence[int]) -> dict[int, int]:
        """A random row of every call that is not checked whole, where rows can be checked by themselves."""
        answers = self.bench.layout.row_answers
        if not answers:
            return {}
        calls = [call for call in range(len(block.slots)) if call not in chosen]
        room = min(answer.exact.shape[0] for answer in answers)
        size = self.bench.description["batch"]
        return {call: _random.randrange(size) for call in _random.sample(calls, min(room, len(calls)))}

    def rows(
        self, worker: Worker, block: Block, rows: list[list[Published]], picked: dict[int, int],
        slices: dict[int, list[torch.Tensor]], recipes: dict[int, FailedCall],
    ) -> None:  # fmt: skip
        """The slices against their answers, all calls at once."""
        if not picked:
            return
        calls = list(picked)
        with self.stage("oracle"):
            self.bench.expect_rows([block.slots[call] for call in calls], list(picked.values()))
        assert self.bench.oracle is not None
        families: dict[str, list[int]] = {}  # -> positions in calls
        for at, call in enumerate(calls):
            families.setdefault(recipes[block.slots[call]].family, []).append(at)
        for (family, places), (output, answer) in product(families.items(), enumerate(self.bench.layout.row_answers)):
            actual = torch.stack([slices[calls[at]][output] for at in places])
            exact, eager = self.bench.oracle.value(answer.exact)[places], self.bench.oracle.value(answer.eager)[places]
            name = output_name(self.bench.layout, output)
            try:
                self.value(name, actual, exact, eager, family=f"{family}{BY_ROWS}")
            except Wrong as wrong:
                assert self.mismatch is not None
                call = calls[places[self.mismatch.index[0]]]
                self.failed_call = replace(recipes[block.slots[call]], calls_before=call)
                self.mismatch = replace(self.mismatch, index=(picked[call], *self.mismatch.index[1:]))
                raise self.late_or_wrong(worker, rows[call][output], wrong) from wrong
        self.sliced += len(calls)

    def choose(self, block: Block, recipes: dict[int, FailedCall]) -> list[int]:
        """Which calls to check, known to nobody before now, in the order of checking: the near-duplicates and their original
        first, as many as there is room for, then random others."""
        calls = range(len(block.slots))
        twins = [recipes[slot].input_seed for slot in block.slots if recipes[slot].near_seed is not None]
        alike = [call for call in calls if recipes[block.slots[call]].input_seed in twins]
        others = [call for call in calls if call not in alike]
        return [
            *_random.sample(alike, min(len(alike), self.room)),
            *_random.sample(others, min(len(others), self.checks_a_block)),
        ]

    def inputs(self, worker: Worker, block: Block, rows: list[list[Published]]) -> None:
        layout = self.bench.layout
        for slot in set(block.slots):
            if not devices.same(worker.region, self.bench.staging, layout.slots[slot], layout.slot_bytes):
                raise Wrong(Status.INCORRECT, "inputs", "the candidate changed its inputs")
        inside = outputs.overlaps_inputs(rows, worker.hands)
        if inside is not None:
            raise Wrong(
                Status.INCORRECT,
                "inputs",
                f"call {inside.call} returned memory of its input where the reference returns its own",
            )

    def output(self, place: int, item: Published, actual: torch.Tensor, index: bool, family: str) -> None:
        exact, eager = self.answers(self.bench.layout.answers[place][item.output])
        name = output_name(self.bench.layout, item.output)
        self.value(name, actual, exact, eager, (place, item.output) if index else None, family)

    def answers(self, answer: Answer) -> tuple[torch.Tensor, torch.Tensor]:
        """In fp64, and eager's."""
        assert self.bench.oracle is not None
        return self.bench.oracle.value(answer.exact), self.bench.oracle.value(answer.eager)

    def value(
        self, name: str, actual: torch.Tensor, exact: torch.Tensor, eager: torch.Tensor, index: tuple[int, int] | None = None,
        family: str = "",
    ) -> None:  # fmt: skip
        """One tensor against its exact and eager answers. `family` says whose budget it has."""
        if exact.dtype == torch.int64:
            self.integers(name, actual, exact, eager, index)
            return
        if actual.is_complex():
            actual = torch.view_as_real(actual)
        limits = self.budgets.setdefault((name, family), compare.Budget(of_rows=family.endswith(BY_ROWS)))
        weighed = compare.weigh(actual, exact, eager, limits)
        if weighed.non_finite is not None:
            self.wrong(name, weighed.non_finite, actual, exact, "values", weighed.refusal)
        if weighed.refusal:
            outside = compare.outside_budget(actual, exact, limits)
            self.wrong(name, outside, actual, exact, "values", weighed.refusal)

    def integers(
        self, name: str, actual: torch.Tensor, exact: torch.Tensor, eager: torch.Tensor, index: tuple[int, int] | None
    ) -> None:
        mine = actual.to(torch.int64)
        self.budgets.setdefault((name, ""), compare.Budget())
        if index is None:
            wrong = (mine != exact) & (mine != eager.to(torch.int64))
            if bool(wrong.any()):
                self.wrong(name, wrong, mine, exact, "values", f"{int(wrong.sum())} of {wrong.numel()} integers differ")
            return
        bad, first = self.bench.wrong_places(index, mine, compare.K_EAGER)
        if bad:
            mask = torch.zeros(mine.numel(), dtype=torch.bool, device=mine.device)
            mask[first] = True
            told = f"{bad} of {mine.numel()} indices name a place whose value is not the right one, or one place twice"
            self.wrong(name, mask.reshape(mine.shape), mine, exact, "values", told)

    def wrong(
        self, name: str, mask: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor, gate: str, told: str
    ) -> None:
        self.mismatch = compare.first_wrong(name, mask, actual, exact)
        raise Wrong(Status.INCORRECT, gate, f"{name}: {told}")

    def late_or_wrong(self, worker: Worker, item: Published, wrong: Wrong) -> Wrong:
        """Was the answer wrong, or unfinished? Let the worker go with no order; a kernel that is done writes no more."""
        before = outputs.take(worker.hands, item)
        worker.thaw()
        time.sleep(SETTLE_S)
        worker.freeze()
        after = outputs.take(worker.hands, item)
        if item.number is not None or torch.equal(_raw(before), _raw(after)):
            return wrong
        evidence = f"the output of call {item.call} was still being written after done was flipped"
        return Wrong(Status.TIMING_INVALID, "finished", f"{evidence} ({wrong.evidence})")

    def forget_failure(self) -> None:
        self.mismatch = self.failed_call = None

    def read_state(self, worker: Worker, block: Block) -> dict[int, torch.Tensor]:
        """Copies of the candidate's own state tensors, by position in the reference's state; of those it has, whatever way
        its weights went."""
        found = outputs.states(self.bench.layout, block.table)
        return {
            i: outputs.take(worker.hands, item)
            for i, item in enumerate(found)
            if item is not None and worker.hands.holds([(item.address, item.leaf.size_bytes)])
        }

    def state(self, taken: dict[int, torch.Tensor], follow: bool) -> None:
        """What the reference's forward changes must have changed alike; nothing else may have changed at all."""
        layout, mutated = self.bench.layout, set(self.bench.description["mutated"])
        for i, wanted in enumerate(layout.state):
            name = f"state {wanted.name}"
            if wanted.name in mutated:
                if not follow:
                    continue
                if i not in taken:
                    raise Wrong(
                        Status.INCORRECT,
                        "state",
                        f"{name} is changed by the reference and has no counterpart in the solution",
                    )
                self.value(name, taken[i], *self.answers(layout.state_answers[i]))
            elif i in taken:
                loaded = self.bench.staging.flat[wanted.offset : wanted.offset + wanted.size_bytes]
                if taken[i].dtype == getattr(torch, wanted.dtype) and not torch.equal(_raw(taken[i]), loaded):
                    raise Wrong(
                        Status.INCORRECT, "state", f"the candidate changed {name}, which the reference leaves alone"
                    )
        self.state_checks += 1 if (follow or not mutated) else 0

    def leave_decoys(self, worker: Worker, rows: list[list[Published]], taken: dict[int, list[torch.Tensor]]) -> None:
        """Overwrites outputs with other calls' answers, while nothing of the worker runs."""
        donors = list(taken)
        spent = 0
        for row in _random.sample(rows, len(rows)):
            others = [call for call in donors if call != row[0].call] or donors
            for item, other in zip(row, taken[_random.choice(others)], strict=True):
                if spent and spent + item.leaf.size_bytes > self.bench.device.decoy_bytes:
                    return
                spent += item.leaf.size_bytes
                decoy = other if len(donors) > 1 else other.flip(0) if other.ndim else other
                self.decoys += outputs.leave_decoy(worker.hands, item, decoy)

    def disturb(self, worker: Worker, rows: list[list[Published]]) -> None:
        """The same for a reference worker, so that its memory has the candidate's history."""
        chosen = _random.sample(range(len(rows)), min(self.sure, len(rows)))
        taken = {call: [outputs.take(worker.hands, item) for item in rows[call]] for call in chosen}
        decoys = self.decoys
        self.leave_decoys(worker, rows, taken)
        self.decoys = decoys

    def gates(self, calls: int) -> Sequence[Gate]:
        """Evidence so far. A gate that has seen nothing has not passed."""
        shapes = ", ".join(f"{leaf.dtype}{list(leaf.shape)}" for leaf in self.bench.layout.outputs)
        seen = self.blocks > 0
        memory = any(
            leaf.size_bytes and leaf.dtype != "scalar" and not leaf.aliases_input for leaf in self.bench.layout.outputs
        )
        share = max(
            (f.candidate / f.budget for b in self.budgets.values() for f in b.figures() if f.budget), default=0.0
        )
        values = f"{self.checked} of {calls} outputs against fp64"
        values += f", a row of {self.sliced} more" if self.sliced else ""
        values += f", worst at {share:.2f} of budget"
        state = (
            f"{self.state_checks} blocks: as the reference's, nothing else changed"
            if self.bench.layout.state
            else "no state"
        )
        return (
            Gate("wire", seen or None, f"{self.blocks} blocks, every message asked for"),
            Gate("structure", seen or None, f"{calls} calls returned {shapes}"),
            Gate("inputs", seen or None, f"unchanged in all {calls} calls, compared bit for bit"),
            Gate("values", self.checked > 0 or None, values),
            Gate("state", (self.state_checks > 0 or not self.bench.layout.state) or None, state),
            Gate("decoys", self.decoys > 0 or not memory or None, f"{self.decoys} outputs overwritten with other calls' answers"),
        )  # fmt: skip


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
