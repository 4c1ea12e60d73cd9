"""The driver's end of a lane: starts it, asks it, starts another when it dies. Holds no device context itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbench import errors, keys, sandbox, scratch
from kbench.candidate import protocol
from kbench.codec import decode, encode
from kbench.findings import Finding, Trial
from kbench.referee.case import Case, ProblemCase
from kbench.types import Status, Verdict


@dataclass(frozen=True, slots=True)
class Survey:
    """What a problem is built with (JSON trees) and its bytes; or why it cannot be loaded."""

    init: Any
    init_leaves: tuple[dict[str, Any], ...]
    sizes: dict[str, int] | None  # None where unknown
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What the lane measured of a problem: see findings.Admission."""

    findings: tuple[Finding, ...]
    trials: tuple[Trial, ...]
    facts: dict[str, object]


class LaneReferee:
    """Judges on one device. `judge` returns a Verdict whatever the candidate does; what is not its fault is INFRA_ERROR."""

    def __init__(self, rung: str, cache: Path) -> None:
        self.rung, self.cache = rung, cache
        self.process: subprocess.Popen[bytes] | None = None

    def ready(self) -> None:
        """Starts a lane where none lives. It ends with the thread that started it: who asks from threads calls this first."""
        if self.process is not None and self.process.poll() is not None:
            self.end()
        if self.process is None:
            self.start()

    def start(self) -> None:
        self.scratch = scratch.make("lane")
        self.channel, theirs = socket.socketpair()
        arguments = [str(theirs.fileno()), self.rung, str(self.cache), str(self.scratch)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbench.referee.lane", *arguments],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=sandbox.die_with_parent,
            env={**keys.left_out(os.environ), **sandbox.MALLOC, "OMP_WAIT_POLICY": "PASSIVE"},  # no idle thread of the lane may spin
        )  # fmt: skip
        theirs.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request. Raises the KBenchError that the lane reports; RefereeError where the lane died."""
        self.ready()
        try:
            protocol.send(self.channel, request)
            answer = protocol.receive(self.channel)
        except (OSError, protocol.WireError) as error:
            answer = None
            reason = f": {error}"
        else:
            reason = ""
        if answer is None:
            code = self.end()
            raise errors.RefereeError(f"the lane process ended (exit code {code}){reason}")
        if "failed" in answer:
            raise getattr(errors, answer["failed"], errors.RefereeError)(answer["text"])
        return answer

    def survey(self, problems: Sequence[ProblemCase]) -> list[Survey]:
        """Constructor arguments and sizes of each, without running a forward. One that cannot be loaded says why."""
        found = self.ask(do="survey", problems=[encode(problem) for problem in problems])["found"]
        return [
            Survey(None, (), None, item["failed"])
            if "failed" in item
            else Survey(item["init"], tuple(item["init_leaves"]), item["bytes"])
            for item in found
        ]

    def facts(self, problems: Sequence[ProblemCase]) -> list[dict[str, Any]]:
        """What a forward of each costs, derived on the meta device: see oracle/facts.py; {"failed": why} where it cannot be."""
        found: list[dict[str, Any]] = self.ask(do="survey", role="facts", problems=[encode(p) for p in problems])[
            "found"
        ]
        return found

    def probe(self, device: str) -> dict[str, Any]:
        """What a lane finds on the device: {"shared": bool, "rates": kbench.rates, "canary_us": float}."""
        return self.ask(do="probe", device=device)

    def admit(self, problem: ProblemCase, quick: bool, values_only: bool = False, lanes: int = 1) -> Examined:
        """What a lane found about the problem itself, while it has one share of memory beside other lanes.

        ProblemError where it cannot be run, RefereeError where it took all down.
        """
        answer = self.ask(do="admit", problem=encode(problem), quick=quick, values_only=values_only, lanes=lanes)
        return decode(Examined, answer["found"])

    def compile(
        self, problems: Sequence[tuple[ProblemCase, str]], sizes: Sequence[int], room: float, jobs: int, limit_s: float
    ) -> list[dict[str, Any]]:
        """Compiles each in a mode of torch.compile's ("" is its default), for Inductor's cache: {"seconds": ...} or {"failed": why}.

        `jobs` at once, as far as their `sizes` (bytes) fit into `room`.
        """
        answer = self.ask(
            do="compile", problems=[encode(problem) for problem, _ in problems], modes=[mode for _, mode in problems],
            sizes=list(sizes), room=room, jobs=jobs, limit_s=limit_s,
        )  # fmt: skip
        found: list[dict[str, Any]] = answer["found"]
        return found

    def judge(self, case: Case) -> Verdict:
        try:
            return decode(Verdict, self.ask(do="judge", case=encode(case))["verdict"])
        except errors.RefereeError as error:
            return Verdict(
                Status.INFRA_ERROR, str(error).strip().splitlines()[-1], detail=str(error), sandbox=self.rung,
                protocol=case.protocol.name, device=case.problem.device,
            )  # fmt: skip

    def end(self) -> int | None:
        """Ends the lane, and with it everything that it started."""
        if self.process is None:
            return None
        self.channel.close()
        try:
            code: int | None = self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        scratch.remove(self.scratch)
        self.process = None
        return code

    def __enter__(self) -> LaneReferee:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
