"""A Session whose referee needs no device: every solution is judged as its text says, after a given time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from kbench.evaluate import Settings, Wanted
from kbench.referee.client import Survey
from kbench.types import Gate, Problem, Solution, Speedup, Status, Timing, Verdict


class FakeSession:
    """`# speedup: 2.0` in a solution makes it that much faster, `# status: incorrect` makes it wrong; correct without a word."""

    def __init__(self, judge_s: float = 0.0) -> None:
        self.settings, self.judge_s = Settings(protocol="quick"), judge_s
        self.judged: list[tuple[str, str]] = []

    def judge(self, problem: Problem, solution: Solution) -> Verdict:
        time.sleep(self.judge_s)
        self.judged.append((problem.id, solution.source))
        wrong = re.search(r"# status: (\w+)", solution.source)
        if wrong:
            return Verdict(Status(wrong[1]), f"it was {wrong[1]}", (Gate("values", False, "no"),), detail=wrong[1] * 3)
        told = re.search(r"# speedup: ([\d.]+)", solution.source)
        factor = float(told[1]) if told else 1.5
        times = {"candidate": 100.0, "eager": 100 * factor, "compile": 100 * factor}
        speedups = (Speedup("eager", factor), Speedup("compile", factor))
        return Verdict(Status.CORRECT, "right", (Gate("values", True, "yes"),), timing=Timing(times, {}, speedups, ()))

    def survey(self, cases: Sequence[Any]) -> list[Survey]:
        return [Survey(None, (), None) for _ in cases]

    def build_all(self, wanted: Sequence[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        pass

    def compile_ahead(self, wanted: Sequence[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        pass

    def available_bytes(self) -> int:
        return 1 << 40
