"""One judging, top to bottom: fresh pairs of workers, rounds of blocks, checks while frozen, and the verdict.

for each pair:  start workers -> for each round: fresh inputs -> candidate, eager, compile in ABBA order -> check
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kbench import sandbox
from kbench.devices import cpu
from kbench.errors import RefereeError
from kbench.referee import clock, compare, outputs, provenance
from kbench.referee.bench import Bench, new_seed
from kbench.referee.case import Case
from kbench.referee.checks import Checks
from kbench.referee.outputs import Wrong
from kbench.referee.wire import Tamper, TimedOut, WorkerFailed, WorkerGone
from kbench.referee.worker import Block, Worker
from kbench.types import BlockSample, FailedCall, Gate, Status, Timing, Verdict

SLOW_FACTOR = 20.0  # a candidate this much slower than eager gets the smallest blocks there are, and so do the others
SLOW_CALLS = (1, 2, 3, 4)
SETTLING = (
    3  # rounds; after them no block of a steady candidate meets a fresh page, which costs 5 us under a hypervisor
)
REFERENCE_LIMIT_S = 300.0
EXTRA_PAIRS = 2  # before an accusation that noise could have made
_random = random.SystemRandom()


class ReferenceFailed(Exception):
    """A reference worker did not get through a block."""


class Judging:
    """State of one judging. `run` is the line; everything else serves it."""

    def __init__(self, bench: Bench, case: Case, box: sandbox.Sandbox, flush: Callable[[], None]) -> None:
        self.bench, self.case, self.box, self.flush = bench, case, box, flush
        self.checks = Checks(bench, case.protocol.oracle_s)
        self.seconds: dict[str, float] = {}
        self.samples: list[BlockSample] = []
        self.recipes: dict[int, FailedCall] = {}  # slot -> how its inputs were made
        self.weight_seed = self.master_seed = 0
        self.candidate: Worker | None = None
        self.calls_made = 0
        self.weights = ""
        self.freezer = ""
        self.shares: provenance.Shares | None = None
        self.policy = Gate("policy", None, "not traced")
        self.last_elapsed: dict[str, float] = {}

    def run(self) -> Verdict:
        try:
            for pair in range(self.case.protocol.pairs):
                self.judge_pair(pair)
            self.repeat_if_it_shrinks()
        except Wrong as wrong:
            return self.refuse(wrong.status, wrong.gate, wrong.evidence)
        except Tamper as error:
            return self.refuse(Status.TAMPER, "wire", str(error))
        except TimedOut as error:
            return self.refuse(Status.TIMEOUT, "answered", str(error))
        except WorkerGone as error:
            return self.refuse(Status.RUNTIME_ERROR, "answered", f"{error}{self.death()}")
        except WorkerFailed as error:
            return self.refuse(Status.RUNTIME_ERROR, "answered", error.last, error.text)
        finally:
            if self.candidate is not None:
                self.candidate.close()
        with self.stage("statistics"):
            timing = clock.assess(
                self.samples, self.case.baselines, self.case.calibration, self.case.protocol.interval
            )  # fmt: skip
        failed = (f"no {side} baseline: {reason[:200]}" for side, reason in self.bench.failures.items())
        return self.accept(replace(timing, flags=(*timing.flags, *failed)))

    def repeat_if_it_shrinks(self) -> None:
        """Noise can look like work that is done only in small blocks. More pairs tell: all of them must show it."""
        pairs = self.case.protocol.pairs
        for extra in range(EXTRA_PAIRS):
            if clock.shrinks(self.samples, self.case.baselines) is None:
                return
            self.judge_pair(pairs + extra)
        shrinkage = clock.shrinks(self.samples, self.case.baselines)
        if shrinkage is not None:
            told = f"a call takes {shrinkage:.1f} times as long in small blocks as in large ones, and eager's does not"
            raise Wrong(Status.TIMING_INVALID, "clock", told)

    def judge_pair(self, pair: int) -> None:
        self.new_weights()
        sides = self.start(pair)
        for turn, calls in enumerate(self.rounds(sides)):
            self.fresh_inputs(calls, families=turn < SETTLING)
            self.empty_block(sides, pair)
            order = list(sides) if (turn + pair) % 2 == 0 else list(reversed(sides))
            for side in order:
                try:
                    self.play(side, sides[side], calls, pair, counted=turn >= SETTLING)
                except ReferenceFailed as error:
                    self.bench.fail(side, error)  # raises for eager; a torch.compile that fails leaves its column empty
                    del sides[side]
                    self.samples = [sample for sample in self.samples if sample.side != side]
            if turn == len(self.bench.calls) // 2 + SETTLING:
                self.new_weights()
                for worker in sides.values():
                    self.give_weights(worker)
        if pair == 0:
            self.trace(sides)
        assert self.candidate is not None
        self.candidate.close()
        self.candidate = None

    def trace(self, sides: dict[str, Worker]) -> None:
        """One call under the worker's own profiler, candidate and eager: who did the work, as they tell it."""
        with self.stage("provenance"):
            found = {}
            for side in ("candidate", "eager"):
                if side in sides:
                    sides[side].thaw()
                    answer = sides[side].line.ask({"do": "trace"}, self.case.timeout_s)
                    sides[side].freeze()
                    found[side] = provenance.shares_of(answer.get("operators_us", {}))
            self.shares = found["candidate"]
            self.policy = provenance.policy_gate(self.case.policy, found["candidate"], found.get("eager"))

    def start(self, pair: int) -> dict[str, Worker]:
        """The pair's workers, loaded and with weights: the candidate's anew, the references' kept for later candidates."""
        with self.stage("workers"):
            self.candidate = self.candidate_worker()
            order = self.bench.load_order(self.box, self.case.file, self.case.class_name, self.case.compile_mode)
            self.candidate.load(order, self.case.timeout_s)
            self.weights, self.freezer = self.candidate.weights, self.candidate.freezer.kind
            if self.weights == "by_seed":
                self.new_weights()
            self.give_weights(self.candidate)
            self.candidate.freeze()
        sides = {"candidate": self.candidate}
        with self.stage("baselines"):
            for side in self.case.baselines:
                worker = self.bench.reference(side, pair)
                if worker is not None:
                    self.give_weights(worker)
                    worker.freeze()
                    sides[side] = worker
        return sides

    def candidate_worker(self) -> Worker:
        """A fresh worker from the candidate's server. The server did start; if it is gone, the candidate ended it."""
        try:
            return self.bench.new_worker(self.box, "candidate")
        except RefereeError as error:
            raise Tamper(f"the candidate's sandbox no longer answers: {error}") from error

    def new_weights(self) -> None:
        with self.stage("oracle"):
            self.weight_seed = new_seed()
            self.bench.make_weights(self.weight_seed, randomised=self.weights != "by_seed")

    def give_weights(self, worker: Worker) -> None:
        if self.bench.layout.state or worker.weights == "by_seed":
            worker.put_weights(self.bench.staging, self.weight_seed, self.case.timeout_s)
            worker.freeze()

    def rounds(self, sides: dict[str, Worker]) -> Iterator[int]:
        """K of each round. The first SETTLING ones let the workers' heaps grow; they are checked, not counted as time."""
        calls = self.bench.calls
        yield 1
        yield 1
        if self.is_slow():
            calls = list(SLOW_CALLS)
        yield calls[-1]
        yield calls[-1]
        for _ in range(self.case.protocol.repeats):
            yield from _random.sample(calls, len(calls))

    def is_slow(self) -> bool:
        """Whether blocks of the planned K would last for a long time: the second lone call tells, without its compiling."""
        last, eager = self.last_elapsed["candidate"], float(self.bench.description["call_us"])
        return last > SLOW_FACTOR * eager and last * self.bench.calls[-1] > SLOW_FACTOR * clock.TARGET_BLOCK_US

    def fresh_inputs(self, calls: int, families: bool) -> None:
        """New values in `calls` random slots of staging; one is a near-duplicate of another. The rest keep stale ones."""
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
            if calls >= 2:
                original = self.recipes[self.order[0]]
                twin = FailedCall(
                    original.master_seed, original.input_seed, original.family, new_seed(), self.weight_seed, 0
                )  # fmt: skip
                self.recipes[self.order[1]] = twin
            _random.shuffle(self.order)
            bench.fill({slot: self.recipes[slot] for slot in self.order})

    def empty_block(self, sides: dict[str, Worker], pair: int) -> None:
        """A block of no call by a reference worker: what go, done and letting go cost by themselves."""
        side = next((side for side in sides if side != "candidate"), None)
        if side is not None:
            block = sides[side].block((), self.flush, REFERENCE_LIMIT_S)
            self.samples.append(BlockSample(side, pair, 0, block.elapsed_us))

    def play(self, side: str, worker: Worker, calls: int, pair: int, counted: bool) -> None:
        """One block of one side, and what is done while it stands frozen afterwards."""
        if self.bench.stateful:
            self.give_weights(worker)
        try:
            block = self.run_block(side, worker)
            rows = outputs.published(self.bench.layout, self.bench.description["structure"], block.table, calls)
            if outputs.repeats_storage(rows):
                block, rows = self.run_cloned(side, worker, calls)
        except (Tamper, WorkerGone, WorkerFailed, TimedOut, Wrong) as error:
            if side == "candidate":
                raise
            raise ReferenceFailed(f"the {side} reference failed in a block: {error}") from error
        self.last_elapsed[side] = block.elapsed_us
        if counted:
            self.samples.append(BlockSample(side, pair, calls, block.elapsed_us))
        with self.stage("checks"):
            if side == "candidate":
                self.calls_made += calls
                self.checks.block(worker, block, rows, self.recipes)
            else:
                self.checks.disturb(worker, rows)

    def run_block(self, side: str, worker: Worker) -> Block:
        def prepare() -> None:
            with self.stage("inputs"):
                layout = self.bench.layout
                for slot in self.order:
                    cpu.copy(worker.region, self.bench.staging, layout.slots[slot], layout.slot_bytes)
                self.flush()

        limit_s = self.case.timeout_s if side == "candidate" else REFERENCE_LIMIT_S
        started = time.monotonic()
        inputs = self.seconds.get("inputs", 0.0)
        block = worker.block(self.order, prepare, limit_s)
        name = f"blocks of {side}"
        spent = time.monotonic() - started - (self.seconds.get("inputs", 0.0) - inputs)
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        return block

    def run_cloned(self, side: str, worker: Worker, calls: int) -> tuple[Block, list[list[outputs.Published]]]:
        """A static output buffer: from here on the worker program clones each output, inside the clock."""
        if not worker.clone:
            worker.clone = True
            if self.bench.stateful:
                self.give_weights(worker)
            block = self.run_block(side, worker)
            rows = outputs.published(self.bench.layout, self.bench.description["structure"], block.table, calls)
            if not outputs.repeats_storage(rows):
                return block, rows
        raise Tamper("outputs of different calls overlap although each was cloned")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - started

    def death(self) -> str:
        """The last line that the dead worker printed, for a person; nothing rests on it."""
        if self.candidate is None:
            return ""
        lines = self.candidate.log_tail().strip().splitlines()
        return f"; its last output: {lines[-1][:200]}" if lines else ""

    def refuse(self, status: Status, gate: str, evidence: str, detail: str = "") -> Verdict:
        others = [other for other in self.checks.gates(self.calls_made) if other.name != gate]
        return self.verdict(status, evidence, (*others, Gate(gate, False, evidence)), detail)

    def accept(self, timing: Timing) -> Verdict:
        gates = (*self.checks.gates(self.calls_made), clock_gate(timing, self.freezer), self.policy)
        if self.policy.passed is False:
            return self.verdict(Status.POLICY, self.policy.evidence, gates, "", timing)
        missing = [gate.name for gate in gates if gate.passed is not True]
        if missing:
            raise RefereeError(f"no evidence from {', '.join(missing)}")
        return self.verdict(Status.CORRECT, "", gates, "", timing)

    def verdict(
        self, status: Status, message: str, gates: Sequence[Gate], detail: str = "", timing: Timing | None = None
    ) -> Verdict:
        return Verdict(
            status, message, tuple(gates), compare.worst(list(self.checks.budgets.values())), self.checks.mismatch,
            self.checks.failed_call, timing, self.calls_made, self.checks.checked, self.weights,
            {name: round(spent, 3) for name, spent in self.seconds.items()}, detail=detail, sandbox=self.box.rung,
            protocol=self.case.protocol.name, device=self.case.problem.device,
            claims={"own_us": self.shares.own_us, "library_us": self.shares.library_us} if self.shares else {},
        )  # fmt: skip


def clock_gate(timing: Timing, freezer: str) -> Gate:
    counts = {sample.k for sample in timing.samples if sample.k}
    enough = len(counts) >= clock.MIN_CALLS and all(t > 0 for t in timing.latency_us.values())
    blocks = len(timing.samples)
    evidence = f"{blocks} blocks of {len(counts)} different K, idle sides stopped by {freezer}"
    return Gate("clock", enough, evidence)
