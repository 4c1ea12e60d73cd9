"""The baselines judged as candidates. Need no key."""

from __future__ import annotations

from kbench.errors import ConfigError
from kbench.models import Reply, Request
from kbench.types import Problem, Solution

MODES = {  # torch.compile mode; None is eager
    "builtin/eager": None,
    "builtin/compile": "",
    "builtin/compile-max-autotune": "max-autotune-no-cudagraphs",  # a graph's replay reads the inputs that it was recorded with
}


class Builtin:
    exempt = True

    def __init__(self, name: str) -> None:
        if name not in MODES:
            raise ConfigError(f"no model {name!r}; there are {', '.join(MODES)}")
        self.name = name

    def generate(self, request: Request) -> Reply | None:
        return Reply(solution=builtin_solution(self.name, request.problem), origin=self.name)


def builtin_solution(name: str, problem: Problem) -> Solution:
    """The problem's own code in the candidate's place. ConfigError for a name that is no baseline."""
    model = Builtin(name)
    return Solution(problem.source, model.name, "python", "Model", MODES[model.name])
