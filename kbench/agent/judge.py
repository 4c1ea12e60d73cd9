"""The referee as several agents share it: builds side by side, the device one job at a time, in the order of asking."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

from kbench.errors import ProblemError
from kbench.evaluate import Session, Settings, problem_case
from kbench.types import Build, Problem, Solution, Status, Verdict


class Referee(Protocol):
    """What a gate asks. Safe to call from several threads."""

    def build(self, problem: Problem, solution: Solution) -> Build: ...
    def verify(self, problem: Problem, solution: Solution) -> Verdict: ...
    def profile(self, problem: Problem, solution: Solution) -> Verdict: ...


class Judge:
    """First come, first served. An agent asks for one thing at a time, so it waits for one job of each other agent at most.

    The lane is used from one thread that lives as long as this does: the kernel ends what a thread started with that thread.
    """

    def __init__(self, session: Session, settings: Settings, build_jobs: int) -> None:
        self.session, self.settings = session, settings
        self.device, self.builds = ThreadPoolExecutor(1, "device"), threading.Semaphore(build_jobs)
        # In an episode one pair of workers has to do; what is chosen there is timed again, by the run's own protocol.
        self.timing = replace(settings, protocol="quick")
        self.checking = replace(self.timing, baselines=("eager",))

    def build(self, problem: Problem, solution: Solution) -> Build:
        case = problem_case(problem, self.settings)
        if case.id not in self.session.surveys:
            self.device.submit(self.session.survey, [case]).result()
        with self.builds:
            return self.session.build_for(problem, solution)

    def verify(self, problem: Problem, solution: Solution) -> Verdict:
        return self._judged(problem, solution, self.checking)

    def profile(self, problem: Problem, solution: Solution) -> Verdict:
        return self._judged(problem, solution, self.timing)

    def time_again(self, problem: Problem, solution: Solution) -> Verdict:
        return self._judged(problem, solution, replace(self.settings, fresh_references=True))

    def _judged(self, problem: Problem, solution: Solution, settings: Settings) -> Verdict:
        self.build(problem, solution)  # kept: it is found again, and the device is not held for it
        return self.device.submit(self._on_device, problem, solution, settings).result()

    def _on_device(self, problem: Problem, solution: Solution, settings: Settings) -> Verdict:
        try:
            return self.session.judge(problem, solution, settings)
        except ProblemError as error:
            message = f"the problem itself cannot be run: {error}"
            return Verdict(Status.INFRA_ERROR, message, protocol=settings.protocol)

    def close(self) -> None:
        """Jobs that wait are given up; the one under way ends with the session."""
        self.device.shutdown(wait=False, cancel_futures=True)
