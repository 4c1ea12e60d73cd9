"""One round: fresh inputs, a block of every side in ABBA order, and what is looked at while each stands stopped."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from kbench.errors import RefereeError
from kbench.referee import outputs
from kbench.referee.bench import Bench, new_seed
from kbench.referee.checks import Checks
from kbench.referee.outputs import Wrong
from kbench.referee.stages import Stages
from kbench.referee.watch import BUSY, EARLY, MOVED, Again, Watch
from kbench.referee.wire import Tamper, TimedOut, WorkerFailed, WorkerGone
from kbench.referee.worker import Block, Worker
from kbench.types import BlockSample, FailedCall, Status

SETTLING = 3  # rounds; after them no block of a steady candidate meets a fresh page: 5 us under a hypervisor
MOST_LEADING = 3  # calls that go before a lone one
MOST_AGAIN = 8  # rounds in a row that say nothing
MOST_BUSY = 3  # of them with work left behind done by the candidate; noise does that once
MOST_UNFIT = 3  # rounds of a judging that are played again because the device slowed itself down or was not ours alone
_random = random.SystemRandom()


class Rounds:
    """Plays the rounds of one judging with the workers in `sides`, of which it takes those out that fail."""

    def __init__(self, bench: Bench, checks: Checks, stage: Stages) -> None:
        self.bench, self.device, self.checks, self.stage = bench, bench.device, checks, stage
        self.watch = Watch(bench, stage)
        self.sides: dict[str, Worker] = {}
        self.again: Counter[str] = Counter()  # rounds that were played again, by reason
        self.recipes: dict[int, FailedCall] = {}  # slot -> how its inputs were made
        self.weight_seed = self.master_seed = 0
        self.order: list[int] = []  # slots of a round's calls, those that lead a lone one first
        self.lead = 0  # how many these are
        self.last_elapsed: dict[str, float] = {}
        self.calls_made = self.unfit = 0

    def new_weights(self, randomised: str) -> None:
        with self.stage("oracle"):
            self.weight_seed = new_seed()
            self.bench.make_weights(self.weight_seed, randomised)

    def give_weights(self, side: str) -> None:
        with self.charged(side):
            worker = self.sides[side]
            if self.bench.layout.state or worker.weights == "by_seed":
                worker.put_weights(self.bench.staging, self.weight_seed)

    @contextmanager
    def charged(self, side: str) -> Iterator[None]:
        """The candidate's failures are its own. Eager must work; a torch.compile that does not leaves its column empty."""
        try:
            yield
        except (Tamper, WorkerGone, WorkerFailed, TimedOut, Wrong) as error:
            if side == "candidate":
                raise
            self.bench.fail(side, f"the {side} reference failed in a block: {error}")
            del self.sides[side]

    def play(self, turn: int, calls: int, pair: int, twin: bool = False) -> list[BlockSample]:
        """One block of every side on the same fresh inputs; played again where it says nothing.

        `twin`: one call is a near-duplicate of another.
        """
        again: list[Again] = []
        while True:
            try:
                return self.once(turn, calls, pair, twin)
            except Again as error:
                again.append(error)
                self.again[f"{error.side}: {error.reason.partition(' (')[0]}"] += 1
            moved = [error.side for error in again if error.reason == MOVED]
            for side in {side for side in moved if moved.count(side) > 1 and side in self.sides}:
                self.sides[side].clone = True  # clones stay where they are
            busy = [error for error in again if error.side == "candidate" and error.reason.startswith((BUSY, EARLY))]
            if len(busy) >= MOST_BUSY:
                raise Wrong(Status.TIMING_INVALID, "finished", busy[-1].reason)
            if len(again) >= MOST_AGAIN:
                self.give_up(again, calls, pair)

    def give_up(self, again: list[Again], calls: int, pair: int) -> None:
        """Whose fault it is that no round says anything."""
        last = again[-1]
        told = f"{len(again)} rounds in a row said nothing: {last.side}: {last.reason}"
        if last.side == "candidate":
            raise Tamper(told)
        if "candidate" in self.sides and self.is_quiet_without_the_candidate(calls, pair):
            told = "while it stood stopped its work on the device held the references up, and ended with it"
            raise Wrong(Status.TIMING_INVALID, "finished", told)
        raise RefereeError(told)

    def is_quiet_without_the_candidate(self, calls: int, pair: int) -> bool:
        """Whether the references' rounds say something once no process of the candidate's is there any more."""
        self.sides.pop("candidate").close()
        try:
            for turn in range(MOST_BUSY):
                self.once(turn, calls, pair, twin=False)
        except Again:
            return False
        finally:
            self.bench.rest()
        return True

    def once(self, turn: int, calls: int, pair: int, twin: bool) -> list[BlockSample]:
        self.lead = self.leading_calls() if calls == 1 and turn >= SETTLING else 0
        self.fresh_inputs(self.lead + calls, families=turn < SETTLING or twin, twin=twin)
        samples = self.empty_block(pair)
        order = list(self.sides) if (turn + pair) % 2 == 0 else list(reversed(self.sides))
        for side in order:  # while the inputs lie in staging alone: what waits for its inputs does nothing yet
            with self.charged(side):
                self.get_ready(self.sides[side])
        for side in [side for side in order if side in self.sides]:
            with self.charged(side):
                samples.append(self.block(side, calls, pair))
        marks = {mark for sample in samples for mark in self.device.marks(sample.conditions)}
        if marks and self.unfit < MOST_UNFIT:
            self.unfit += 1
            raise Again("device", ", ".join(sorted(marks)))
        return samples

    def fresh_inputs(self, calls: int, families: bool, twin: bool) -> None:
        """New values in `calls` random slots of staging. The rest keep stale ones."""
        with self.stage("inputs"):
            bench = self.bench
            self.order = _random.sample(range(len(bench.layout.slots)), calls)
            if not self.master_seed:
                self.master_seed = new_seed()
            names = bench.problem.families if families else ("default",)
            chosen = [_random.choice(names) for _ in range(calls)]
            if families and calls >= len(names):
                chosen[: len(names)] = names
            for position, slot in enumerate(self.order):
                self.recipes[slot] = FailedCall(
                    self.master_seed, new_seed(), chosen[position], None, self.weight_seed, 0
                )
            original, *twins = twin_places(calls) if twin else [0]
            for place in twins:
                self.recipes[self.order[place]] = replace(self.recipes[self.order[original]], near_seed=new_seed())
            bench.fill({slot: self.recipes[slot] for slot in self.order})

    def leading_calls(self) -> int:
        """How many calls go before a lone one, in blocks of their own: as warm as one of many is a call only after others.

        A random number, so that nobody knows which one is timed and checked. None where a call changes the module's state,
        which is followed through one block.
        """
        most = min(MOST_LEADING, len(self.bench.layout.slots) - 1)
        return 0 if self.bench.stateful or most < 1 else _random.randint(1, most)

    def empty_block(self, pair: int) -> list[BlockSample]:
        """A block of no call by a reference worker: what go, done and letting go cost by themselves."""
        side = next((side for side in self.sides if side != "candidate"), None)
        if side is None:
            return []
        with self.charged(side):
            worker = self.sides[side]
            if not worker.armed:
                worker.arm()
            block = worker.block((), self.device.flush)
            return [BlockSample(side, pair, 0, block.elapsed_us)]
        return []

    def get_ready(self, worker: Worker) -> None:
        if worker.armed:
            return
        if self.bench.stateful:
            worker.put_weights(self.bench.staging, self.weight_seed)
        worker.arm(series=self.lead > 0)

    def block(self, side: str, calls: int, pair: int) -> BlockSample:
        """One block of one side, and what is done while it stands frozen afterwards."""
        worker = self.sides[side]
        block = self.watch.block(side, worker, self.order[: self.lead], self.order[self.lead :])
        rows = outputs.published(self.bench.layout, self.bench.description["structure"], block.table, calls)
        self.keep_apart(side, worker, rows)
        self.reach(side, worker, rows)
        self.last_elapsed[side] = block.elapsed_us
        with self.stage("checks"):
            if side == "candidate":
                self.calls_made += calls  # those that lead a lone one are neither timed nor looked at
                self.check(worker, block, rows)
            else:
                with self.stage("decoys"):
                    self.checks.disturb(worker, rows)
        if worker.series:
            worker.listen()
        return BlockSample(side, pair, calls, block.elapsed_us, self.device.conditions())

    def check(self, worker: Worker, block: Block, rows: list[list[outputs.Published]]) -> None:
        try:
            self.checks.block(worker, block, rows, self.recipes, lambda: self.watch.all_taken(len(block.slots)))
        except Wrong as wrong:
            # Memory that the worker gave back since it was mapped shows old values: look before accusing anyone. Once, for
            # from then on outputs are clones, which stay where they are.
            if worker.hands.told and not worker.clone and worker.learn_segments(()):
                worker.clone = True
                self.checks.forget_failure()
                raise Again("candidate", MOVED) from wrong
            raise

    def keep_apart(self, side: str, worker: Worker, rows: list[list[outputs.Published]]) -> None:
        """A static output buffer: from here on the worker program clones each output, inside the clock."""
        if not outputs.repeats_storage(rows):
            return
        if worker.clone:
            raise Tamper("outputs of different calls overlap although each was cloned")
        worker.clone = True
        raise Again(side, "outputs of different calls lie in one place")

    def reach(self, side: str, worker: Worker, rows: list[list[outputs.Published]]) -> None:
        """Whether the lane's hands reach every output. Where they do not the worker tells, and the round is played again."""
        spans = outputs.spans_of(rows)
        if worker.hands.holds(spans):
            return
        unknown = [address for address, size in spans if not worker.hands.holds([(address, size)])]
        worker.learn_segments(unknown)
        if not worker.hands.holds(spans):
            worker.clone = True  # memory of a kind that cannot be shared: clones lie in torch's own
        raise Again(side, MOVED)

    def warm(self, calls: int, pair: int) -> list[BlockSample]:
        """One block of every side in which all calls take the same inputs, which the caches then hold. For people to look at:
        its outputs are not checked, and nothing rests on it."""
        self.lead = 0
        self.fresh_inputs(1, families=False, twin=False)
        samples = []
        for side in list(self.sides):
            with self.charged(side), self.stage("warm blocks"):
                worker = self.sides[side]
                self.get_ready(worker)
                block = worker.block(self.order * calls, partial(self.watch.bring_warm, worker, self.order[0]))
                samples.append(BlockSample(side, pair, calls, block.elapsed_us, self.device.conditions()))
        return samples


def twin_places(calls: int) -> list[int]:
    """Where among two calls or more an original stands, and its near-duplicates: one beside it, since a cache may keep a
    single answer, and one anywhere."""
    first = _random.randrange(calls - 1)
    pair = _random.sample((first, first + 1), 2)
    return pair + _random.sample([place for place in range(calls) if place not in pair], min(1, calls - 2))
