"""The one way out of a workdir's sandbox: compile, verify, profile. Files come in, the referee's text goes back.

The lines are those of the public release of arXiv 2602.24286 (facts: names and formats only), since policies trained on it
read them. Whatever is said here rests on a verdict of the referee's, never on anything that the workdir printed.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kbench.agent.box import decoded
from kbench.agent.contract import Contract, Incomplete
from kbench.agent.judge import Referee
from kbench.agent.tools import shortened
from kbench.candidate import protocol
from kbench.errors import KBenchError
from kbench.source import source_hash
from kbench.types import Problem, Solution, Status, Verdict

KINDS = ("compile", "verify", "profile")
CHECKS = 5  # lines that say so; the referee makes and checks more calls than that
CLIENT_LIMIT_S = 20.0
TEXT_CHARS = 12_000
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    exit: int


@dataclass(frozen=True, slots=True)
class Shot:
    """A judged state of the workdir: what the agent was told of it, and on what it rests."""

    kind: str  # "verify", "profile" or "final"
    solution: Solution
    verdict: Verdict
    changed: tuple[str, ...]  # files that were not the agent's to change, and were

    @property
    def hash(self) -> str:
        return source_hash(self.solution.source)


class Gate:
    """Serves one workdir, from a thread of its own: one request at a time."""

    def __init__(
        self, problem: Problem, contract: Contract, judge: Referee, origin: str, keep: Callable[[Shot], None]
    ) -> None:
        self.problem, self.contract, self.judge, self.origin, self.keep = problem, contract, judge, origin, keep
        self.served_s = 0.0
        self.one_at_a_time = threading.Lock()
        self.stopped = threading.Event()
        self.busy_since: float | None = None
        self.counts = dict.fromkeys(KINDS, 0)

    def waited_s(self) -> float:
        """How long requests took in all, the one under way included."""
        since = self.busy_since
        return self.served_s + (time.monotonic() - since if since is not None else 0.0)

    def serve(self, listener: socket.socket) -> threading.Thread:
        """Answers the clients inside until `stop`."""
        thread = threading.Thread(target=self._serve, args=(listener,), daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        self.stopped.set()

    def _serve(self, listener: socket.socket) -> None:
        listener.settimeout(POLL_S)
        while not self.stopped.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with client, contextlib.suppress(OSError, protocol.WireError):
                client.settimeout(CLIENT_LIMIT_S)
                self._client(client)

    def _client(self, client: socket.socket) -> None:
        request = protocol.receive(client)
        if request is None or request.get("kind") not in KINDS:
            return
        answer = self.answer(str(request["kind"]), decoded(request.get("files")))
        protocol.send(client, {"text": answer.text, "exit": answer.exit})

    def answer(self, kind: str, files: Mapping[str, bytes]) -> Answer:
        with self.one_at_a_time:
            self.busy_since = time.monotonic()
            try:
                self.counts[kind] += 1
                solution = self.contract.solution(files, self.origin)
                return self._compile(solution, files) if kind == "compile" else self._judge(kind, solution, files)
            except Incomplete as error:
                return Answer(f"Error: {error}", 1)
            except KBenchError as error:
                return Answer(f"Error: the referee could not do it, try again: {' '.join(str(error).split())}", 1)
            finally:
                self.served_s += time.monotonic() - self.busy_since
                self.busy_since = None

    def _compile(self, solution: Solution, files: Mapping[str, bytes]) -> Answer:
        build = self.judge.build(self.problem, solution)
        sources = [name for name in files if name.endswith((".cu", ".cpp"))] or ["model_new.py"]
        head = f"Compiling {len(sources)} files: {', '.join(sources)}"
        if build.folder is None:
            return Answer(f"{head}\nCompilation failed.\n{shortened(build.log or build.error, TEXT_CHARS)}", 1)
        return Answer(f"{head}\nCompile success: cuda_extension.so", 0)

    def _judge(self, kind: str, solution: Solution, files: Mapping[str, bytes]) -> Answer:
        shot = self.shoot(kind, solution, files)
        return Answer(*told(kind, shot))

    def shoot(self, kind: str, solution: Solution, files: Mapping[str, bytes]) -> Shot:
        """Judges, and keeps it as a state of the trajectory."""
        ask = self.judge.verify if kind == "verify" else self.judge.profile
        shot = Shot(kind, solution, ask(self.problem, solution), self.contract.changed(files))
        self.keep(shot)
        return shot


def told(kind: str, shot: Shot) -> tuple[str, int]:
    """The text and the exit code of a verdict."""
    note = f"[note] changed, and not used: {', '.join(shot.changed)}\n" if shot.changed else ""
    if shot.verdict.status is not Status.CORRECT:
        return f"{note}{failure(shot.verdict)}", 1
    if kind == "verify":
        passed = "\n".join(f"[PASS] check {at}/{CHECKS}" for at in range(1, CHECKS + 1))
        return f"{note}{passed}\n[PASS] verify success", 0
    return f"{note}{timing_line(shot.verdict)}", 0


def timing_line(verdict: Verdict) -> str:
    """Microseconds of a call; "-" for what was not timed."""
    latency = verdict.timing.latency_us if verdict.timing is not None else {}
    names = (("Torch Baseline", "eager"), ("Torch Compile", "compile"), ("CUDA Extension", "candidate"))
    return ", ".join(f"{word}: {latency[side]:.3f}us" if side in latency else f"{word}: -" for word, side in names)


def failure(verdict: Verdict) -> str:
    parts = [f"[FAIL] {verdict.status}: {verdict.message}"]
    wrong = verdict.mismatch
    if wrong is not None:
        parts.append(
            f"first wrong element: {wrong.output}{list(wrong.index)} is {wrong.actual!r}, expected {wrong.expected!r}; "
            f"{wrong.wrong_elements} of {wrong.total_elements} elements are wrong"
        )
    parts += [
        f"{e.metric} error {e.candidate:.3g}, eager's own {e.eager:.3g}, allowed {e.budget:.3g}"
        for e in verdict.errors
        if not e.candidate <= e.budget
    ]
    return "\n".join([*parts, *([shortened(verdict.detail, TEXT_CHARS)] if verdict.detail else [])])
