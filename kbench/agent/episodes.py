"""Many episodes of a run side by side: each in a thread and a sandbox of its own, the device one job at a time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbench.agent import AgentSettings
from kbench.agent.command import Program
from kbench.agent.contract import contract_for
from kbench.agent.episode import Episode, Played
from kbench.agent.judge import Judge
from kbench.agent.loop import SYSTEM
from kbench.agent.tools import Toolbox
from kbench.agent.trajectory import Trajectory
from kbench.artifacts import SOLUTION, place_of
from kbench.asking import Asked, Asker
from kbench.attempts import timestamp
from kbench.codec import encode
from kbench.errors import KBenchError
from kbench.models import Reply, Request
from kbench.prompts import Target
from kbench.source import source_hash
from kbench.store import RunStore
from kbench.types import Record, Status, Verdict, attempt_key

# A server that restarts may be away for minutes, longer than an SDK tries; seconds between two tries.
PATIENCE_S = (5.0, 15.0, 30.0, 60.0, 60.0, 60.0, 60.0)
OUTAGE = 1000  # failures in a row, over all episodes, after which the run stops: patience comes before

Tell = Callable[[str, "Record | None"], None]


class Unavailable(Exception):
    """The server did not come back; the episode can go on another time."""


class Kept:
    """Every reply in its own episode's trajectory."""

    def __init__(self) -> None:
        self.open: dict[str, Trajectory] = {}

    def find(self, request: Request) -> Reply | None:
        return self.open[attempt_key(request.problem.id, request.sample)].find(request)

    def keep(self, request: Request, reply: Reply) -> None:
        self.open[attempt_key(request.problem.id, request.sample)].keep(request, reply)

    def settle(self, request: Request, reply: Reply) -> None:
        """A trajectory's lines are synced as they are written."""


@dataclass(frozen=True, slots=True)
class Job:
    """What an episode is played with. `asker` is None where a program works by itself."""

    run_id: str
    settings: AgentSettings
    target: Target
    judge: Judge
    toolbox: Toolbox
    store: RunStore
    kept: Kept
    asker: Asker | None
    program: Program | None
    name: str
    tell: Tell

    def play(self, request: Request) -> Record | None:
        """None where it is to go on another time."""
        problem, key = request.problem, attempt_key(request.problem.id, request.sample)
        started = timestamp()
        contract = contract_for(problem, self.target, self.settings.contract, self.settings.template)
        folder = place_of(self.store.folder, problem.id, request.sample)
        trajectory = self.kept.open[key] = Trajectory(folder)
        tools = [encode(tool) for tool in self.toolbox.tools]
        if self.program is None:
            trajectory.begin(system=SYSTEM, task=contract.task, tools=tools, contract=contract.name)
        episode = Episode(
            problem, request.sample, contract, self.settings, self.judge, self.name, trajectory, self.judge.session.scratch,
            lambda line: self.tell(f"{key}: {line}", None), self.program,
        )  # fmt: skip
        try:
            played = episode.play(self.toolbox, self._ask)
        except (Unavailable, KBenchError) as error:
            verdict = Verdict(Status.INFRA_ERROR, str(error), protocol=self.judge.settings.protocol)
            return self._record(request, started, verdict=verdict, status=Status.INFRA_ERROR)
        finally:
            trajectory.close()
        return None if played is None else self._ended(request, started, played)

    def _ask(self, request: Request) -> Reply | None:
        assert self.asker is not None
        asked: Asked | None = None
        for pause_s in (*PATIENCE_S, 0.0):
            asked = self.asker.ask(request)
            if asked is None or asked.reply is not None:
                break
            self.tell(f"{attempt_key(request.problem.id, request.sample)}: {asked.failure}; tried again", None)
            self.asker.stop.wait(pause_s)
        if asked is not None and asked.reply is None:
            raise Unavailable(asked.failure)
        return asked.reply if asked is not None else None

    def _ended(self, request: Request, started: str, played: Played) -> Record:
        key = attempt_key(request.problem.id, request.sample)
        if played.solution is not None:
            self.store.write_artifact(key, SOLUTION, played.solution.source.encode("utf-8", "surrogateescape"))
        if played.verdict is not None and played.verdict.detail:
            self.store.write_artifact(key, "detail.log", played.verdict.detail)
        return self._record(request, started, played.status, played.verdict, played)

    def _record(
        self, request: Request, started: str, status: Status, verdict: Verdict | None, played: Played | None = None
    ) -> Record:
        solution = played.solution if played is not None else None
        return Record(
            self.run_id, request.problem.id, request.problem.level, request.sample, started, timestamp(), status,
            verdict=verdict, solution_hash=source_hash(solution.source) if solution is not None else None,
            language=solution.language if solution is not None else "unknown", origin=self.name,
            reply=played.reply if played is not None else None, agent=played.facts if played is not None else None,
        )  # fmt: skip


def play_all(job: Job, requests: Sequence[Request], stopped: Callable[[], bool]) -> Iterator[tuple[str, Record | None]]:
    """Plays them, so many at once as wanted, and yields each as it ends: its key, and None where it is to go on another time.

    What a worker meets is raised here. Leaving it early does not wait: sandboxes end with this process.
    """
    todo: queue.SimpleQueue[Request] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[str, Record | BaseException | None]] = queue.SimpleQueue()
    for request in requests:
        todo.put(request)

    def work() -> None:
        while True:
            try:
                request = todo.get_nowait()
            except queue.Empty:
                return
            key = attempt_key(request.problem.id, request.sample)
            try:
                done.put((key, None if stopped() else job.play(request)))
            except BaseException as error:
                done.put((key, error))

    for _ in range(min(job.settings.agents, len(requests))):
        threading.Thread(target=work, daemon=True).start()
    for _ in requests:
        key, ended = done.get()
        if isinstance(ended, BaseException):
            raise ended
        yield key, ended
