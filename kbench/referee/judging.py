"""One judging, top to bottom: fresh pairs of workers, rounds of blocks, checks while frozen, and the verdict.

for each pair:  start workers -> for each round: fresh inputs -> candidate, eager, compile in ABBA order -> check
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kbench import sandbox
from kbench.errors import RefereeError
from kbench.referee import clock, compare, physics, provenance
from kbench.referee.bench import REFERENCE_LIMIT_S, SMALLEST, Bench
from kbench.referee.case import Case
from kbench.referee.checks import Checks
from kbench.referee.outputs import Wrong
from kbench.referee.references import SubServer
from kbench.referee.rounds import SETTLING, Rounds
from kbench.referee.stages import Stages
from kbench.referee.wire import Tamper, TimedOut, WorkerFailed, WorkerGone
from kbench.referee.worker import Worker
from kbench.types import BlockSample, Gate, Status, Timing, Verdict

SLOW_FACTOR = 20.0  # a candidate this much slower than eager gets the smallest blocks there are, and so do the others
SLOW_CALLS = range(1, SMALLEST + 1)
TRACES = 3  # where one does not say plainly that a policy is kept
MORE_LONE = 8  # rounds of one call at the end of a pair, while the fastest so far says that a call alone takes longer
WARM_ROUNDS = 2
ALONE_ROUNDS = 3  # of the references, when the candidate is gone
SLOWED_BESIDE = 1.1  # times as long, in every pair; the candidate's heat makes less of it
COMPILERS_WORDS = (  # of what can only compile on a device: Triton's first call, an extension loaded there
    "CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "RuntimeError: Error building",
    "RuntimeError: PassManager::run failed",
)  # fmt: skip
TOLD_NAMES = 4
EXTRA_PAIRS = 4  # before an accusation that noise could have made
BY_SEED = (
    "its weights could be put in neither by name nor by order; those that the reference initialises to a constant, or to one "
    "sign, are drawn anew and must then be there by name"
)
_random = random.SystemRandom()


class Judging:
    """State of one judging. `run` is the line; everything else serves it."""

    def __init__(self, bench: Bench, case: Case, box: sandbox.Sandbox | SubServer, rung: str, path: str) -> None:
        """`box` is whence the candidate's workers are forked, `path` its file there."""
        self.bench, self.case, self.box, self.rung, self.path = bench, case, box, rung, path
        self.device = bench.device
        self.stage = Stages()
        self.checks = Checks(bench, case.protocol, self.stage)
        self.rounds = Rounds(bench, self.checks, self.stage)
        self.played: list[BlockSample] = []
        self.warm: list[BlockSample] = []
        self.weights = self.freezer = ""
        self.shares: provenance.Shares | None = None
        self.policy = Gate("policy", None, "not traced")
        self.slowed: list[tuple[float, str]] = []  # by pair: how much slower a reference was beside it, and which

    @property
    def samples(self) -> list[BlockSample]:
        """The timed blocks; none of a reference that failed later."""
        return [sample for sample in self.played if sample.side not in self.bench.failures]

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
            self.let_go()
        with self.stage("statistics"):
            timing = clock.assess(
                self.samples, self.case.baselines, self.case.calibration, self.case.protocol.interval,
                self.case.problem.device, self.warm,
            )  # fmt: skip
        timing = self.with_physics(timing)
        failed = (f"no {side} baseline: {reason[:300]}" for side, reason in self.bench.failures.items())
        return self.accept(replace(timing, flags=(*timing.flags, *failed)))

    def let_go(self) -> None:
        """Where it was refused in the middle of a pair."""
        candidate = self.rounds.sides.pop("candidate", None)
        if candidate is not None:
            candidate.close()
            self.bench.rest()

    def with_physics(self, timing: Timing) -> Timing:
        """The floor beside the times; marked where the candidate is below it and nothing says that it cannot be, and where
        the device was slowed down, was not ours alone, or the whole machine was busy."""
        floor_us = physics.floor_us(self.bench.layout, self.device.peak_bytes_per_s, self.device.cache_bytes)
        flags = timing.flags
        usual_us = clock.DISTURBED * max(float(self.bench.description["call_us"]), clock.LATENCY_BOUND_US)
        if timing.latency_us.get("eager", 0.0) > usual_us:
            flags = (*flags, "disturbed")
        marks = (mark for sample in timing.samples for mark in self.device.marks(sample.conditions))
        flags = (*flags, *dict.fromkeys(marks))
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
        self.start(pair)
        rounds = self.rounds
        for turn, (calls, twin) in enumerate(self.plan(pair)):
            samples = rounds.play(turn, calls, pair, twin)
            if turn >= SETTLING and not twin:
                self.played += samples
            if turn == len(self.bench.calls) // 2 + SETTLING:
                self.new_weights()
                for side in list(rounds.sides):
                    rounds.give_weights(side)
        for extra in range(MORE_LONE):
            if not clock.is_colder_alone(self.samples, self.case.baselines, self.device.name, pair):
                break
            self.played += rounds.play(turn + 1 + extra, 1, pair)
        if pair == 0:
            self.warm = [sample for _ in range(WARM_ROUNDS) for sample in rounds.warm(self.largest(pair), pair)]
            self.trace()
        with self.stage("workers"):
            rounds.sides.pop("candidate").close()
        try:
            if self.device.goes_on:
                self.slowed.append(self.slowed_beside(turn + 1, pair))
        finally:
            with self.stage("workers"):
                for side, worker in list(rounds.sides.items()):
                    with rounds.charged(side):
                        worker.rest()

    def largest(self, pair: int) -> int:
        return max(sample.k for sample in self.played if sample.pair == pair)

    def slowed_beside(self, turn: int, pair: int) -> tuple[float, str]:
        """How many times as long a reference's large blocks took beside the candidate as they do now that it is gone, the most
        of them. What it leaves on the device for their blocks alone, and which ends with these, shows nowhere else."""
        own, calls = [sample for sample in self.samples if sample.pair == pair], self.largest(pair)
        alone = [sample for _ in range(ALONE_ROUNDS) for sample in self.rounds.play(turn, calls, pair)]
        found = [(1.0, "")]
        for side in self.rounds.sides:
            then, now = ([s.elapsed_us for s in some if s.side == side and s.k == calls] for some in (own, alone))
            if then and now:
                found.append((statistics.median(then) / statistics.median(now), side))
        return max(found)

    def start(self, pair: int) -> None:
        """The pair's workers, loaded and with weights: the candidate's anew, the references' kept for later candidates."""
        rounds = self.rounds
        self.new_weights()
        with self.stage("workers"):
            candidate = self.candidate_worker(pair)
            rounds.sides = {"candidate": candidate}
            candidate.load(
                self.bench.load_order(
                    "candidate", pair, self.path, self.case.sha256, self.case.class_name, self.case.compile_mode
                )
            )
            self.weights, self.freezer = candidate.weights, candidate.freezer.kind
            if self.weights == "by_seed":
                self.new_weights()
            rounds.give_weights("candidate")
        with self.stage("baselines"):
            for side in self.case.baselines:
                worker = self.bench.reference(side, pair)
                if worker is not None:
                    rounds.sides[side] = worker
                    rounds.give_weights(side)

    def candidate_worker(self, pair: int) -> Worker:
        """A fresh worker from the candidate's server. The server did start; if it is gone, the candidate ended it."""
        limit_s = REFERENCE_LIMIT_S if self.case.builtin else self.case.timeout_s
        try:
            return self.bench.new_worker(self.box, "candidate", pair, limit_s)
        except RefereeError as error:
            raise Tamper(f"the candidate's sandbox no longer answers: {error}") from error

    def new_weights(self) -> None:
        self.rounds.new_weights("telltales" if self.weights == "by_seed" else "all")

    def plan(self, pair: int) -> Iterator[tuple[int, bool]]:
        """K of each round, and whether there are near-duplicates among its calls.

        The first SETTLING ones let the workers' heaps grow; they are checked, not counted as time. Nor are those with a
        near-duplicate, which could be answered from its original: no candidate can know beforehand which they are. One whose
        second lone call (the first may compile) was slow gets small blocks, and the planned ones too where it is slow no more.
        """
        yield 1, False
        yield 1, False
        slow = self.is_slow(self.rounds.last_elapsed["candidate"])
        calls = [k for k in SLOW_CALLS if k <= self.bench.calls[-1]] if slow else self.bench.calls
        yield calls[-1], calls[-1] > 1
        yield from self.timed_plan(calls)
        own = [s.elapsed_us / s.k for s in self.played if s.pair == pair and s.side == "candidate" and s.k]
        if slow and not self.is_slow(min(own)):
            yield from self.timed_plan(self.bench.calls)

    def timed_plan(self, calls: Sequence[int]) -> Iterator[tuple[int, bool]]:
        rounds = [(k, False) for k in self.case.protocol.timed_rounds(calls)]
        if calls[-1] > 1:
            rounds.append((_random.choice(calls[-2:]), True))
        yield from _random.sample(rounds, len(rounds))

    def is_slow(self, call_us: float) -> bool:
        """Whether blocks of the planned K would last for a long time."""
        eager = float(self.bench.description["call_us"])
        return call_us > SLOW_FACTOR * eager and call_us * self.bench.calls[-1] > SLOW_FACTOR * self.device.block_us

    def trace(self) -> None:
        """Calls under the worker's own profiler, candidate and eager: who did the work, as they tell it.

        A busy machine can hide what own kernels do, and make Python's time look like theirs: of a few traces the quietest counts.
        """
        sides, eager = self.rounds.sides, None
        with self.stage("provenance"):
            for _ in range(TRACES):
                own = provenance.shares_of(sides["candidate"].trace())
                self.shares = provenance.quieter(self.shares, own)
                if "eager" in sides:
                    with self.rounds.charged("eager"):
                        eager = provenance.quieter(eager, provenance.shares_of(sides["eager"].trace()))
                self.policy = provenance.policy_gate(self.case.policy, self.shares, eager)
                if self.policy.passed and (self.case.policy == "any" or provenance.is_plain(self.shares, eager)):
                    return

    def death(self) -> str:
        """The last line that the dead worker printed, for a person; nothing rests on it."""
        candidate = self.rounds.sides.get("candidate")
        lines = candidate.log_tail().strip().splitlines() if candidate is not None else []
        return f"; its last output: {lines[-1][:200]}" if lines else ""

    def refuse(self, status: Status, gate: str, evidence: str, detail: str = "") -> Verdict:
        if status is Status.INCORRECT and self.weights == "by_seed" and self.bench.telltales:
            names = ", ".join(self.bench.telltales[:TOLD_NAMES])
            evidence = f"{evidence}; {BY_SEED}: {names}"
        others = [other for other in self.checks.gates(self.rounds.calls_made) if other.name != gate]
        return self.verdict(status, evidence, (*others, Gate(gate, False, evidence)), detail)

    def accept(self, timing: Timing) -> Verdict:
        if "below_floor" in timing.flags and self.case.problem.moves_all:
            mine = timing.latency_us["candidate"]
            told = f"a call of {mine:.1f} us is faster than its bytes can move ({timing.floor_us:.1f} us)"
            return self.refuse(Status.TIMING_INVALID, "physics", told)
        gates = (
            *self.checks.gates(self.rounds.calls_made),
            clock_gate(timing, self.freezer, len(self.bench.calls), self.rounds.again),
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
            self.checks.failed_call, timing, self.rounds.calls_made, self.checks.checked, self.weights,
            {name: round(spent, 3) for name, spent in self.stage.seconds.items()}, detail=detail, sandbox=self.rung,
            protocol=self.case.protocol.name, device=self.case.problem.device,
            claims={"own_us": self.shares.own_us, "library_us": self.shares.library_us} if self.shares else {},
        )  # fmt: skip


def clock_gate(timing: Timing, freezer: str, planned: int, again: Counter[str]) -> Gate:
    counts = {sample.k for sample in timing.samples if sample.k}
    enough = len(counts) >= min(planned, clock.MIN_CALLS) and all(t > 0 for t in timing.latency_us.values())
    blocks = len(timing.samples)
    evidence = f"{blocks} blocks of {len(counts)} different K, idle sides stopped by {freezer}"
    evidence += "".join(f"; {count} rounds played again ({reason})" for reason, count in again.items())
    return Gate("clock", enough, evidence)
