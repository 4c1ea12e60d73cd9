"""One solution in hand, as a model of one attempt."""

from __future__ import annotations

from kbench.models import Reply, Request
from kbench.types import Solution


class Single:
    def __init__(self, solution: Solution) -> None:
        self.solution, self.name, self.exempt = solution, f"solution/{solution.origin}", solution.builtin

    def generate(self, request: Request) -> Reply | None:
        return Reply(solution=self.solution, origin=self.solution.origin) if request.sample == 0 else None
