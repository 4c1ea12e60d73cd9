"""One judging, top to bottom: fresh pairs of workers, rounds of blocks, checks while frozen, and the verdict.

for each pair:  start workers -> for each round: fresh inputs -> candidate, eager, compile in ABBA order -> check
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kbench import devices, sandbox
from kbench.errors import RefereeError
from kbench.referee import clock, compare, outputs, physics, provenance
from kbench.referee.bench import SMALLEST, Bench, new_seed
from kbench.referee.case import Case
from kbench.referee.checks import Checks
from kbench.referee.outputs import Wrong
from kbench.referee.references import SubServer
from kbench.referee.stages import Stages
from kbench.referee.wire import Tamper, TimedOut, WorkerFailed, WorkerGone
from kbench.referee.worker import Block, Worker
from kbench.types import BlockSample, FailedCall, Gate, Status, Timing, Verdict

SLOW_FACTOR = 20.0  # a candidate this much slower than eager gets the smallest blocks there are, and so do the others
SLOW_CALLS = range(1, SMALLEST + 1)
SETTLING = (
    3  # rounds; after them no block of a steady candidate meets a fresh page, which costs 5 us under a hypervisor
)
REFERENCE_LIMIT_S = 300.0
TRACES = 3  # where one does not say plainly that a policy is kept
MORE_LONE = 8  # rounds of one call at the end of a pair, while the fastest so far says that a call alone takes longer
ALONE_ROUNDS = 3  # of the references, when the candidate is gone
SLOWED_BESIDE = 1.1  # times as long, in every pair; the candidate's heat makes less of it
MOST_LEADING = 3  # calls that go before a lone one
MOST_AGAIN = 8  # rounds in a row that say nothing
MOST_BUSY = 3  # of them with work left behind done by the candidate; noise does that once
THROTTLED = 0xE8  # NVML's bits for hardware slowdown, thermal slowdown (software, hardware) and power brake
COMPILERS_WORDS = (  # of what can only compile on a device: Triton's first call, an extension loaded there
    "CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "RuntimeError: Error building",
    "RuntimeError: PassManager::run failed",
)  # fmt: skip
EXTRA_PAIRS = 4  # before an accusation that noise could have made
BUSY, MOVED = "the device was still busy after done", "outputs lie in memory that was not mapped yet"
EARLY = "something ran on the device while the inputs came in and everything stood stopped"
UNSEEN = "outputs were not read before the lane's own work on the device had ended"
VIGIL_US, VIGIL_CALL_US = (
    5000.0,
    100.0,
)  # how long it takes until a block's outputs are read, to begin with, and more a call
VIGIL_SPARE = 1.5  # times as long as it took
_random = random.SystemRandom()


class Again(Exception):
    """A round that says nothing: it is played again on fresh inputs. Carries whose block it was, and why."""

    def __init__(self, side: str, reason: str) -> None:
        super().__init__(reason)
        self.side, self.reason = side, reason


class Judging:
    """State of one judging. `run` is the line; everything else serves it."""

    def __init__(self, bench: Bench, case: Case, box: sandbox.Sandbox | SubServer, rung: str, path: str) -> None:
        """`box` is whence the candidate's workers are forked, `path` its file there."""
        self.bench, self.case, self.box, self.rung, self.path = bench, case, box, rung, path
        self.device = bench.device
        self.stage = Stages()
        self.checks = Checks(bench, case.protocol, self.stage)
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
        self.vigil: devices.Vigil
        self.lead = self.done_ns = 0
        self.slowed: list[
            tuple[float, str]
        ] = []  # by pair: how much slower a reference was beside the candidate, and which
        self.twin = False  # whether a call of this round is a near-duplicate of another
        self.again: Counter[str] = Counter()  # rounds that were played again, by reason

    def run(self) -> Verdict:
        try:
            for pair in range(self.case.protocol.pairs):
                self.judge_pair(pair)
            self.repeat_while_accused()
        except Wrong as wrong:
            return self.refuse(wrong.status, wrong.gate, wrong.evidence)
        except Tamper as error:
            return self.refuse(Status.TAMPER, "wire", str(error))
        except TimedOut as error:
            return self.refuse(Status.TIMEOUT, "answered", str(error))
        except WorkerGone as error:
            return self.refuse(Status.RUNTIME_ERROR, "answered", f"{error}{self.death()}")
        except WorkerFailed as error:
            status = Status.COMPILE_ERROR if error.last.startswith(COMPILERS_WORDS) else Status.RUNTIME_ERROR
            return self.refuse(status, "answered", error.last, error.text)
        finally:
            if self.candidate is not None:  # it was refused in the middle of a pair
                self.candidate.close()
                self.bench.rest()
        with self.stage("statistics"):
            timing = clock.assess(
                self.samples, self.case.baselines, self.case.calibration, self.case.protocol.interval,
                self.case.problem.device,
            )  # fmt: skip
        timing = self.with_physics(timing)
        failed = (f"no {side} baseline: {reason[:300]}" for side, reason in self.bench.failures.items())
        return self.accept(replace(timing, flags=(*timing.flags, *failed)))

    def with_physics(self, timing: Timing) -> Timing:
        """The floor beside the times; marked where the candidate is below it and nothing says that it cannot be, and where
        the device was slowed down or the whole machine busy."""
        floor_us = physics.floor_us(self.bench.layout, self.device.peak_bytes_per_s, self.device.cache_bytes)
        flags = timing.flags
        usual_us = clock.DISTURBED * max(float(self.bench.description["call_us"]), clock.LATENCY_BOUND_US)
        if timing.latency_us.get("eager", 0.0) > usual_us:
            flags = (*flags, "disturbed")
        if any(int(sample.conditions.get("throttle_mask", 0)) & THROTTLED for sample in timing.samples):
            flags = (*flags, "throttled")
        if floor_us is not None and timing.latency_us["candidate"] < floor_us:
            flags = (*flags, "below_floor")
        return replace(timing, flags=flags, floor_us=floor_us)

    def repeat_while_accused(self) -> None:
        """Noise can look like a lie. More pairs tell: all of them must show it."""
        for extra in range(EXTRA_PAIRS):
            if self.accusation() is None:
                return
            self.judge_pair(self.case.protocol.pairs + extra)
        told = self.accusation()
        if told is not None:
            raise Wrong(Status.TIMING_INVALID, "clock", told)

    def accusation(self) -> str | None:
        """What the blocks of every pair say against the candidate."""
        shrinkage = clock.shrinks(self.samples, self.case.baselines, self.device.name)
        if shrinkage is not None:
            return f"a call takes {shrinkage:.1f} times as long in small blocks as in large ones, and eager's does not"
        slowed, side = min(self.slowed, default=(1.0, ""))
        if slowed > SLOWED_BESIDE:
            return f"a call of {side}'s takes {slowed:.2f} times as long beside the candidate as without it"
        return None

    def judge_pair(self, pair: int) -> None:
        self.new_weights()
        sides = self.start(pair)
        for turn, (calls, twin) in enumerate(self.rounds()):
            self.twin = twin
            samples = self.round(sides, turn, calls, pair)
            if turn >= SETTLING and not twin:
                self.samples += samples
            if turn == len(self.bench.calls) // 2 + SETTLING:
                self.new_weights()
                for side, worker in list(sides.items()):
                    with self.charged(side, sides):
                        self.give_weights(worker)
        self.twin = False
        for extra in range(MORE_LONE):
            if not clock.is_colder_alone(self.samples, self.case.baselines, self.device.name, pair):
                break
            self.samples += self.round(sides, turn + 1 + extra, 1, pair)
        if pair == 0:
            self.trace(sides)
        with self.stage("workers"):
            sides.pop("candidate").close()
            self.candidate = None
        try:
            if self.device.goes_on:
                self.slowed.append(self.slowed_beside(sides, turn + 1, pair))
        finally:
            with self.stage("workers"):
                for side, worker in list(sides.items()):
                    with self.charged(side, sides):
                        worker.rest(REFERENCE_LIMIT_S)

    def slowed_beside(self, sides: dict[str, Worker], turn: int, pair: int) -> tuple[float, str]:
        """How many times as long a reference's large blocks took beside the candidate as they do now that it is gone, the most
        of them. What it leaves on the device for their blocks alone, and which ends with these, shows nowhere else."""
        own = [sample for sample in self.samples if sample.pair == pair]
        calls = max(sample.k for sample in own)
        alone = [sample for _ in range(ALONE_ROUNDS) for sample in self.round(sides, turn, calls, pair)]
        found = [(1.0, "")]
        for side in sides:
            then, now = ([s.elapsed_us for s in some if s.side == side and s.k == calls] for some in (own, alone))
            if then and now:
                found.append((statistics.median(then) / statistics.median(now), side))
        return max(found)

    def round(self, sides: dict[str, Worker], turn: int, calls: int, pair: int) -> list[BlockSample]:
        """One block of every side on the same fresh inputs; played again where it says nothing."""
        again: list[Again] = []
        while True:
            try:
                return self.blocks(sides, turn, calls, pair)
            except Again as error:
                again.append(error)
                self.again[f"{error.side}: {error.reason.partition(' (')[0]}"] += 1
            moved = [error.side for error in again if error.reason == MOVED]
            for side in {side for side in moved if moved.count(side) > 1 and side in sides}:
                sides[side].clone = True  # clones stay where they are
            busy = [error for error in again if error.side == "candidate" and error.reason.startswith((BUSY, EARLY))]
            if len(busy) >= MOST_BUSY:
                raise Wrong(Status.TIMING_INVALID, "finished", busy[-1].reason)
            if len(again) >= MOST_AGAIN:
                if (
                    "candidate" in sides
                    and again[-1].side != "candidate"
                    and self.is_quiet_without_the_candidate(sides, calls, pair)
                ):
                    told = "while it stood stopped its work on the device held the references up, and ended with it"
                    raise Wrong(Status.TIMING_INVALID, "finished", told)
                told = f"{len(again)} rounds in a row said nothing: {again[-1].side}: {again[-1].reason}"
                raise Tamper(told) if again[-1].side == "candidate" else RefereeError(told)

    def is_quiet_without_the_candidate(self, sides: dict[str, Worker], calls: int, pair: int) -> bool:
        """Whether the references' rounds say something once no process of the candidate's is there any more."""
        sides.pop("candidate").close()
        self.candidate = None
        try:
            for turn in range(MOST_BUSY):
                self.blocks(sides, turn, calls, pair)
        except Again:
            return False
        finally:
            self.bench.rest()
        return True

    def blocks(self, sides: dict[str, Worker], turn: int, calls: int, pair: int) -> list[BlockSample]:
        self.lead = self.leading_calls() if calls == 1 and turn >= SETTLING else 0
        self.fresh_inputs(self.lead + calls, families=turn < SETTLING)
        samples = self.empty_block(sides, pair)
        order = list(sides) if (turn + pair) % 2 == 0 else list(reversed(sides))
        for side in order:  # while the inputs lie in staging alone: what waits for its inputs does nothing yet
            with self.charged(side, sides):
                self.get_ready(sides[side])
        for side in [side for side in order if side in sides]:
            with self.charged(side, sides):
                samples.append(self.play(side, sides[side], calls, pair))
        return [sample for sample in samples if sample.side in sides]

    @contextmanager
    def charged(self, side: str, sides: dict[str, Worker]) -> Iterator[None]:
        """The candidate's failures are its own. Eager must work; a torch.compile that does not leaves its column empty."""
        try:
            yield
        except (Tamper, WorkerGone, WorkerFailed, TimedOut, Wrong) as error:
            if side == "candidate":
                raise
            self.bench.fail(side, f"the {side} reference failed in a block: {error}")
            del sides[side]
            self.samples = [sample for sample in self.samples if sample.side != side]

    def trace(self, sides: dict[str, Worker]) -> None:
        """Calls under the worker's own profiler, candidate and eager: who did the work, as they tell it.

        A busy machine can hide what own kernels do, and make Python's time look like theirs: of a few traces the quietest counts.
        """
        eager: provenance.Shares | None = None
        with self.stage("provenance"):
            for _ in range(TRACES):
                self.shares = provenance.quieter(self.shares, self.traced(sides["candidate"]))
                if "eager" in sides:
                    with self.charged("eager", sides):
                        eager = provenance.quieter(eager, self.traced(sides["eager"]))
                self.policy = provenance.policy_gate(self.case.policy, self.shares, eager)
                if self.policy.passed and (self.case.policy == "any" or provenance.is_plain(self.shares, eager)):
                    return

    def traced(self, worker: Worker) -> provenance.Shares:
        worker.thaw()
        answer = worker.line.ask({"do": "trace"}, self.limit_s(worker))
        worker.freeze()
        return provenance.shares_of(answer.get("operators_us", {}))

    def start(self, pair: int) -> dict[str, Worker]:
        """The pair's workers, loaded and with weights: the candidate's anew, the references' kept for later candidates."""
        with self.stage("workers"):
            self.candidate = self.candidate_worker()
            order = self.bench.load_order(
                "candidate", self.path, self.case.sha256, self.case.class_name, self.case.compile_mode
            )
            self.candidate.load(order, self.limit_s(self.candidate))
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
                    sides[side] = worker
                    with self.charged(side, sides):
                        self.give_weights(worker)
                        worker.freeze()
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
            worker.put_weights(self.bench.staging, self.weight_seed, self.limit_s(worker))
            worker.freeze()

    def rounds(self) -> Iterator[tuple[int, bool]]:
        """K of each round, and whether there are near-duplicates among its calls.

        The first SETTLING ones let the workers' heaps grow; they are checked, not counted as time. Nor are those with a
        near-duplicate, which could be answered from its original: no candidate can know beforehand which they are.
        """
        calls = self.bench.calls
        yield 1, False
        yield 1, False
        if self.is_slow():
            calls = [calls for calls in SLOW_CALLS if calls <= self.bench.calls[-1]]
        yield calls[-1], calls[-1] > 1
        rounds = [(k, False) for k in self.case.protocol.timed_rounds(calls)]
        if calls[-1] > 1:
            rounds.append((_random.choice(calls[-2:]), True))
        yield from _random.sample(rounds, len(rounds))

    def is_slow(self) -> bool:
        """Whether blocks of the planned K would last for a long time: the second lone call tells, without its compiling."""
        last, eager = self.last_elapsed["candidate"], float(self.bench.description["call_us"])
        return last > SLOW_FACTOR * eager and last * self.bench.calls[-1] > SLOW_FACTOR * self.device.block_us

    def fresh_inputs(self, calls: int, families: bool) -> None:
        """New values in `calls` random slots of staging, near-duplicates among them in some rounds. The rest keep stale ones."""
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
            original, *twins = twin_places(calls) if self.twin else [0]
            for place in twins:
                self.recipes[self.order[place]] = replace(self.recipes[self.order[original]], near_seed=new_seed())
            bench.fill({slot: self.recipes[slot] for slot in self.order})

    def empty_block(self, sides: dict[str, Worker], pair: int) -> list[BlockSample]:
        """A block of no call by a reference worker: what go, done and letting go cost by themselves."""
        side = next((side for side in sides if side != "candidate"), None)
        if side is None:
            return []
        with self.charged(side, sides):
            if not sides[side].armed:
                sides[side].arm(REFERENCE_LIMIT_S)
            block = sides[side].block((), self.device.flush, REFERENCE_LIMIT_S)
            return [BlockSample(side, pair, 0, block.elapsed_us)]
        return []

    def play(self, side: str, worker: Worker, calls: int, pair: int) -> BlockSample:
        """One block of one side, and what is done while it stands frozen afterwards."""
        block = self.run_block(side, worker)
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
            worker.listen(self.limit_s(worker))
        return BlockSample(side, pair, calls, block.elapsed_us, self.device.conditions())

    def check(self, worker: Worker, block: Block, rows: list[list[outputs.Published]]) -> None:
        try:
            self.checks.block(worker, block, rows, self.recipes, lambda: self.watched(len(block.slots)))
        except Wrong as wrong:
            # Memory that the worker gave back since it was mapped shows old values: look before accusing anyone.
            if worker.hands.told and worker.learn_segments((), self.case.timeout_s):
                self.checks.forget_failure()
                raise Again("candidate", MOVED) from wrong
            raise

    def get_ready(self, worker: Worker) -> None:
        if worker.armed:
            return
        if self.bench.stateful:
            self.give_weights(worker)
        worker.arm(self.limit_s(worker), series=self.lead > 0)

    def limit_s(self, worker: Worker) -> float:
        return self.case.timeout_s if worker is self.candidate and not self.case.builtin else REFERENCE_LIMIT_S

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
        worker.learn_segments(unknown, self.limit_s(worker))
        if not worker.hands.holds(spans):
            worker.clone = True  # memory of a kind that cannot be shared: clones lie in torch's own
        raise Again(side, MOVED)

    def leading_calls(self) -> int:
        """How many calls go before a lone one, in blocks of their own: as warm as one of many is a call only after others.

        A random number, so that nobody knows which one is timed and checked. None where a call changes the module's state,
        which is followed through one block.
        """
        most = min(MOST_LEADING, len(self.bench.layout.slots) - 1)
        return 0 if self.bench.stateful or most < 1 else _random.randint(1, most)

    def run_block(self, side: str, worker: Worker) -> Block:
        """The block of a round, after the calls that lead a lone one. It starts cold but for those."""
        leading, timed = self.order[: self.lead], self.order[self.lead :]

        def cold() -> None:
            with self.stage("inputs"):
                slots = leading[:1] or timed
                took_us, alone_us = self.bench.bring(worker.region, slots), self.bench.bring_us[len(slots)]
                if side == "candidate" and self.device.was_held_up(took_us, alone_us):
                    raise Again(side, f"{EARLY} ({took_us:.0f} us, alone {alone_us:.0f} us)")

        def warm(slot: int) -> Callable[[], None]:
            return lambda: self.bench.copy(worker.region, [slot])

        def then() -> None:
            self.done_ns = time.perf_counter_ns()
            self.vigil = self.device.vigil(self.vigil_us(len(timed)) if side == "candidate" else 0.0)

        with self.stage(f"blocks of {side}"):
            for slot in leading:
                worker.block([slot], cold if slot == leading[0] else warm(slot), self.limit_s(worker))
            block = worker.block(timed, warm(timed[0]) if leading else cold, self.limit_s(worker), then)
        if self.device.is_late(self.vigil.probe_us, self.bench.canaries_us):
            self.device.wait_idle()
            raise Again(side, f"{BUSY} (the canary took {self.vigil.probe_us:.0f} us)")
        if side != "candidate":
            self.bench.canaries_us.append(self.vigil.probe_us)
        return block

    def vigil_us(self, calls: int) -> float:
        return self.bench.vigils_us.get(calls, VIGIL_US + calls * VIGIL_CALL_US)

    def watched(self, calls: int) -> None:
        """Called when every output that is looked at is on its way here. Again where that was not under the lane's eyes."""
        known = self.bench.vigils_us
        if self.vigil.has_ended():
            known[calls] = 2 * self.vigil_us(calls)
            raise Again("candidate", UNSEEN)
        needed_us = (time.perf_counter_ns() - self.done_ns) / 1e3
        known[calls] = max(VIGIL_SPARE * needed_us, 0.8 * self.vigil_us(calls))
        if self.vigil.was_held_up():
            late_us = self.vigil.late_us()
            self.device.wait_idle()
            raise Again("candidate", f"{BUSY} (own work took {late_us:.0f} us longer)")

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
        if "below_floor" in timing.flags and self.case.problem.moves_all:
            mine = timing.latency_us["candidate"]
            told = f"a call of {mine:.1f} us is faster than its bytes can move ({timing.floor_us:.1f} us)"
            return self.refuse(Status.TIMING_INVALID, "physics", told)
        gates = (
            *self.checks.gates(self.calls_made),
            clock_gate(timing, self.freezer, len(self.bench.calls), self.again),
            self.policy,
        )
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
            {name: round(spent, 3) for name, spent in self.stage.seconds.items()}, detail=detail, sandbox=self.rung,
            protocol=self.case.protocol.name, device=self.case.problem.device,
            claims={"own_us": self.shares.own_us, "library_us": self.shares.library_us} if self.shares else {},
        )  # fmt: skip


def twin_places(calls: int) -> list[int]:
    """Where among two calls or more an original stands, and its near-duplicates: one beside it, since a cache may keep a
    single answer, and one anywhere."""
    first = _random.randrange(calls - 1)
    pair = _random.sample((first, first + 1), 2)
    return pair + _random.sample([place for place in range(calls) if place not in pair], min(1, calls - 2))


def clock_gate(timing: Timing, freezer: str, planned: int, again: Counter[str]) -> Gate:
    counts = {sample.k for sample in timing.samples if sample.k}
    enough = len(counts) >= min(planned, clock.MIN_CALLS) and all(t > 0 for t in timing.latency_us.values())
    blocks = len(timing.samples)
    evidence = f"{blocks} blocks of {len(counts)} different K, idle sides stopped by {freezer}"
    evidence += "".join(f"; {count} rounds played again ({reason})" for reason, count in again.items())
    return Gate("clock", enough, evidence)
