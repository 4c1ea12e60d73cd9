"""The exploit suite against this installation: manifest -> judge -> outcome.

An exploit is held when it is refused with a status and by a gate that its manifest entry names, so that one that merely fails
to import counts as a hole in the suite. One that lies about time alone is held when its true time is told. A control is held
when it is correct and every gate gave evidence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kbench import registry
from kbench.evaluate import Session, Settings, Wanted, read_solution
from kbench.exploits import AttackCase, Exploit
from kbench.types import Problem, Status, Verdict

TIMEOUT_S = 20.0  # a block; the longest honest one takes a few seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one case ended. `fault` says in what it is not as the manifest wants it; empty where it held."""

    case: AttackCase
    verdict: Verdict
    evidence: str
    fault: str

    @property
    def held(self) -> bool:
        return not self.fault


def settings_for(device: str, shapes: str, protocol: str, require_sandbox: bool = False) -> Settings:
    return Settings(
        device, shapes, protocol=protocol, policy="any", baselines=("eager",), timeout_s=TIMEOUT_S, require_sandbox=require_sandbox
    )  # fmt: skip


def run_suite(
    session: Session, cases: Sequence[AttackCase], report: Callable[[Outcome], None], say: Callable[[str], None]
) -> list[Outcome]:
    """Builds all, then judges one after another; `report` hears of each as it ends.

    Those of one problem are judged in a row, so that its references stay warm; the outcomes have the order of `cases`.
    """
    session.build_all([wanted(session, case) for case in cases], os.cpu_count() or 1, say)
    found: dict[str, Outcome] = {}
    for case in sorted(cases, key=lambda case: (str(case.suite), case.problem, case.precision)):
        found[case.id] = attack(session, case)
        report(found[case.id])
    return [found[case.id] for case in cases]


def attack(session: Session, case: AttackCase) -> Outcome:
    """One case, judged under its own policy and precision. What the referee itself got wrong is judged once more."""
    verdict = judge(session, case)
    if verdict.status is Status.INFRA_ERROR:
        verdict = judge(session, case)
    return assess(case, verdict)


def judge(session: Session, case: AttackCase) -> Verdict:
    one = wanted(session, case)
    return session.judge(one.problem, one.solution, one.settings)


def wanted(session: Session, case: AttackCase) -> Wanted:
    settings = replace(session.settings, policy=case.policy, precision=case.precision)
    return Wanted(case.id, problem_of(case), read_solution(case.path), settings)


def problem_of(case: AttackCase) -> Problem:
    return registry.find(_problems(case.suite), case.problem)


@cache
def _problems(suite: Path | None) -> list[Problem]:
    return registry.discover(suite)


def assess(case: AttackCase, verdict: Verdict) -> Outcome:
    failed = next((gate for gate in verdict.gates if gate.passed is False), None)
    evidence = f"{failed.name}: {failed.evidence}" if failed is not None else told_time(verdict)
    if verdict.status not in case.statuses:
        wanted = " or ".join(case.statuses)
        return Outcome(case, verdict, evidence, f"{verdict.status} where {wanted} is right: {verdict.message}")
    if case.exploit is None:
        silent = [gate.name for gate in verdict.gates if not gate.passed]
        return Outcome(case, verdict, evidence, f"no evidence from {', '.join(silent)}" if silent else "")
    if verdict.status is Status.CORRECT:
        return Outcome(case, verdict, evidence, why_untrue(case.exploit, verdict))
    if failed is None or failed.name not in case.exploit.gates:
        fired = failed.name if failed is not None else "no gate"
        return Outcome(case, verdict, evidence, f"{fired} fired where {' or '.join(case.exploit.gates)} must")
    return Outcome(case, verdict, evidence, "")


def told_time(verdict: Verdict) -> str:
    speedup = verdict.timing.speedup("eager") if verdict.timing is not None else None
    return f"its time as it is: {speedup.value:.2f}x eager" if speedup is not None else "no time was told"


def why_untrue(exploit: Exploit, verdict: Verdict) -> str:
    """Whether a right answer's time was told as it is; empty where it was."""
    speedup = verdict.timing.speedup("eager") if verdict.timing is not None else None
    assert exploit.speedup_below is not None
    if speedup is None:
        return "no time was told"
    if speedup.value >= exploit.speedup_below:
        return f"told to be {speedup.value:.2f}x eager, and it is below {exploit.speedup_below}x"
    return ""
