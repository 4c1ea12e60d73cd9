"""The driver's end of a lane: starts it, asks it, starts another when it dies. Holds no device context itself."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kbench import errors
from kbench.candidate import protocol
from kbench.codec import decode, encode
from kbench.referee.case import Case, ProblemCase
from kbench.types import Status, Verdict


class LaneReferee:
    """Judges on one device. `judge` returns a Verdict whatever the candidate does; what is not its fault is INFRA_ERROR."""

    def __init__(self, rung: str, cache: Path) -> None:
        self.rung, self.cache = rung, cache
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="kbench-lane-"))
        self.scratch.chmod(0o755)
        self.channel, theirs = socket.socketpair()
        arguments = [str(theirs.fileno()), self.rung, str(self.cache), str(self.scratch)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbench.referee.lane", *arguments],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=_die_with_parent,
        )  # fmt: skip
        theirs.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request. Raises the KBenchError that the lane reports; RefereeError where the lane died."""
        if self.process is None or self.process.poll() is not None:
            self.start()
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

    def prepare(self, problem: ProblemCase, compiled: bool, build_folder: str | None = None) -> dict[str, Any]:
        """What the builder needs to know of the problem: constructor arguments, mode. ProblemError where it cannot run."""
        return self.ask(do="prepare", problem=encode(problem), compiled=compiled, build_folder=build_folder)

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
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.process = None
        return code

    def __enter__(self) -> LaneReferee:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _die_with_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
