"""A/A runs: the reference judged as a candidate, so that true speed-ups are 1 and what is measured is how far processes differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from kbench import calibration, environment, registry
from kbench.evaluate import Session, Settings
from kbench.models.builtin import builtin_solution
from kbench.referee.clock import duration_class
from kbench.types import Problem, Status, Verdict

PROBLEMS = (
    "level1/001_square_matmul", "level1/019_relu", "level1/023_softmax", "level1/040_layer_norm", "level1/051_argmax",
    "level3/003_conv_batchnorm_net",
)  # fmt: skip
MAX_SWEEPS = 12


def log_ratios(verdict: Verdict) -> list[tuple[str, float]]:
    """(duration class, log ratio) of every pair of an A/A judging."""
    timing = verdict.timing
    speedup = timing.speedup("eager") if timing else None
    if timing is None or speedup is None:
        return []
    kind = duration_class(timing.latency_us["candidate"])
    return [(kind, math.log(ratio)) for ratio in speedup.pairs]


def calibrate(settings: Settings, progress: Callable[[str], None]) -> dict[str, list[float]]:
    """Adds A/A pairs until every class that the problems fall into has MIN_RUNS; returns all ratios of this device."""
    settings = replace(settings, baselines=("eager",), protocol="strict", policy="any", fresh_references=True)
    problems = {problem.id: problem for problem in registry.discover()}
    key = environment.device_key(settings.device)
    with Session(settings) as session:
        own: dict[str, list[float]] = {}
        for sweep in range(MAX_SWEEPS):
            for name in PROBLEMS:
                verdict = judge_once(session, problems[name])
                own = calibration.add(session.cache, key, log_ratios(verdict))
                counts = ", ".join(f"{kind} {len(values)}" for kind, values in sorted(own.items()))
                progress(f"sweep {sweep + 1}, {name}: A/A pairs so far: {counts}")
            if all(len(values) >= calibration.MIN_RUNS for values in own.values()):
                break
    return own


def judge_once(session: Session, problem: Problem) -> Verdict:
    verdict = session.judge(problem, builtin_solution("builtin/eager", problem))
    if verdict.status is not Status.CORRECT:
        from kbench.errors import RefereeError

        raise RefereeError(f"{problem.id}: eager judged as a candidate is {verdict.status}: {verdict.message}")
    return verdict
