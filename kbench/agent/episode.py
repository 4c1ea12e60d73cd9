"""One episode from its folder to its record: played to an end, its last state judged, the best of it timed once more."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kbench.agent import AgentSettings
from kbench.agent.box import DATA_BYTES, PROGRAM_DATA_BYTES, Box, BoxLost
from kbench.agent.command import Program
from kbench.agent.contract import Contract, Incomplete
from kbench.agent.gate import Gate, Shot
from kbench.agent.judge import Judge
from kbench.agent.loop import Counts, Loop, counts_of
from kbench.agent.outcome import chosen, reward
from kbench.agent.tools import Toolbox
from kbench.agent.trajectory import Trajectory
from kbench.codec import decode
from kbench.extract import detect_language
from kbench.models import Reply, Request
from kbench.refine import SUMMED
from kbench.source import source_hash
from kbench.types import AgentFacts, Problem, ReplyFacts, Snapshot, Solution, Status, Verdict


@dataclass(frozen=True, slots=True)
class Played:
    """`verdict` is None where there was nothing to judge."""

    status: Status
    verdict: Verdict | None
    solution: Solution | None
    facts: AgentFacts
    reply: ReplyFacts | None


class Episode:
    """`scratch` holds its sandbox; `trajectory` is open as long as it is."""

    def __init__(
        self, problem: Problem, sample: int, contract: Contract, settings: AgentSettings, judge: Judge, origin: str,
        trajectory: Trajectory, scratch: Path, tell: Callable[[str], None], program: Program | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.sample, self.contract, self.settings = problem, sample, contract, settings
        self.judge, self.origin, self.trajectory, self.scratch = judge, origin, trajectory, scratch
        self.tell, self.program = tell, program
        self.gate = Gate(problem, contract, judge, origin, self.keep)
        self.counts = Counts()
        self.verdicts: dict[str, Verdict] = {}  # of this session, by hash
        self.seconds_before, self.started = trajectory.seconds(), time.monotonic()
        self.box: Box | None = None

    def seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.started

    def keep(self, shot: Shot) -> None:
        verdict = shot.verdict
        self.verdicts[shot.hash] = verdict
        if verdict.status is Status.INFRA_ERROR:  # says nothing of the state
            return
        speedups = {s.baseline: s.value for s in verdict.timing.speedups} if verdict.timing is not None else {}
        snapshot = Snapshot(
            shot.kind, self.counts.turns, shot.hash, verdict.status, verdict.message, speedups,
            None if self.program is not None else self.counts.tokens, self.seconds(), shot.changed,
        )  # fmt: skip
        self.trajectory.add_snapshot(snapshot, shot.solution.source)
        speeds = "".join(f", {value:.3g}x {name}" for name, value in speedups.items())
        self.tell(f"turn {snapshot.turn}: {shot.kind}: {verdict.status}{speeds}")

    def open_box(self, tar: bytes | None) -> Box:
        """A sandbox with the folder of before, or a new one; the gate serves it."""
        plan = self.program.plan() if self.program is not None else None
        limit = DATA_BYTES if self.program is None else PROGRAM_DATA_BYTES
        self.box = Box(self.judge.session.rung, self.scratch, self.settings, tar or self.contract.files, plan, limit)
        self.gate.serve(self.box.gate)
        return self.box

    def play(self, toolbox: Toolbox, ask: Callable[[Request], Reply | None]) -> Played | None:
        """None where it is to go on another time."""
        try:
            stop = self.trajectory.ended or self._to_the_end(toolbox, ask)
            if stop is None:
                return None
            final = self._final()
            if self.trajectory.ended is None:
                self.trajectory.add("end", stop_reason=stop, seconds=self.seconds())
            return self._outcome(stop, final)
        finally:
            self.gate.stop()
            if self.box is not None:
                self.box.close()

    def _to_the_end(self, toolbox: Toolbox, ask: Callable[[Request], Reply | None]) -> str | None:
        if self.program is not None:
            return self.program.work(self.open_box(self.trajectory.workdir()), self.contract.task, self)
        loop = Loop(
            self.problem, self.sample, self.contract.task, self.settings, toolbox, self.trajectory, self.open_box, self.gate,
            ask,
        )  # fmt: skip
        self.counts = loop.counts
        return loop.play()

    def _final(self) -> int | None:
        """The place of the folder's last state among the snapshots, judged where it was not; None where it holds none."""
        try:
            files = self._last_files()
            solution = self.contract.solution(files, self.origin)
        except (BoxLost, Incomplete):
            return None
        place = self._place(solution)
        if place is not None:
            return place
        self.gate.shoot("final", solution, files)
        return self._place(solution)

    def _last_files(self) -> dict[str, bytes]:
        """Of the folder as it is; as it was after the last whole turn, where its sandbox has ended."""
        if self.box is not None:
            with contextlib.suppress(BoxLost):
                return self.box.files()
        return self.open_box(self.trajectory.workdir()).files()

    def _place(self, solution: Solution) -> int | None:
        """Of a snapshot of this very text that settles it: wrong, or right and timed."""
        wanted = source_hash(solution.source)
        for at, snapshot in enumerate(self.trajectory.snapshots()):
            timed = snapshot.kind != "verify" or snapshot.status is not Status.CORRECT
            if snapshot.solution_hash == wanted and timed:
                return at
        return None

    def _outcome(self, stop: str, final: int | None) -> Played:
        snapshots = tuple(self.trajectory.snapshots())
        best = chosen(snapshots)
        verdict, solution = None, None
        if best is not None and not (stop == "refused" and snapshots[best].status is not Status.CORRECT):
            solution = self._solution(snapshots[best])
            again = snapshots[best].status is Status.CORRECT
            kept = None if again else self.verdicts.get(snapshots[best].solution_hash)
            verdict = kept or self.judge.time_again(self.problem, solution)
        status = verdict.status if verdict is not None else Status.REFUSED if stop == "refused" else Status.NO_CODE
        network = "host" if self.program is not None and self.program.network else "none"
        counts = counts_of(self.trajectory)
        calls = dict(counts.calls) if self.program is None else dict(self.gate.counts)
        facts = AgentFacts(
            stop, counts.turns, calls, counts.malformed, snapshots, best, final, reward(verdict), network, self.contract.name,
        )  # fmt: skip
        return Played(status, verdict, solution, facts, self._reply_facts())

    def _solution(self, snapshot: Snapshot) -> Solution:
        source = self.trajectory.source(snapshot.solution_hash)
        return Solution(source, self.origin, detect_language(source))

    def _reply_facts(self) -> ReplyFacts | None:
        """Of all replies: tokens, cost and time added up where each is known, the rest of the last."""
        kept = [decode(Reply, event["reply"]).facts for event in self.trajectory.of("reply")]
        facts = [f for f in kept if f is not None]
        if not facts:
            return None
        sums = {name: [getattr(f, name) for f in facts] for name in SUMMED}
        total = {name: None if None in values else sum(values) for name, values in sums.items()}
        broken = sum(f.broken for f in facts)
        return replace(facts[-1], broken=broken, **total)  # type: ignore[arg-type]  # names of numbers alone
