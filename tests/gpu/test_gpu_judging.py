"""The referee on a GPU: what is right passes, what cheats or breaks gets its status, and the next attempt is unaffected."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kbench import environment, registry
from kbench.attack import attack
from kbench.evaluate import Session, Settings, read_solution
from kbench.exploits import AttackCase, read_manifest
from kbench.models.builtin import builtin_solution
from kbench.types import Status
from tests.candidate_files import RELU, header, judge
from tests.conftest import EXPLOITS

CANDIDATES = Path(__file__).parent / "candidates"
HOSTILE = sorted((CANDIDATES / "hostile").glob("*.py"))
CASES = [case for case in read_manifest(EXPLOITS) if case.device == "cuda" or (case.ci and case.runs_on("cuda:0"))]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(environment.best_device() == "cpu", reason="no NVIDIA driver answers here"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    os.environ["KBENCH_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    settings = Settings(
        device="cuda:0", shapes="medium", protocol="quick", policy="any", baselines=("eager",), timeout_s=15.0
    )
    with Session(settings) as opened:
        yield opened


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_exploit_is_caught_and_a_control_passes(session: Session, case: AttackCase) -> None:
    outcome = attack(session, case)
    assert outcome.held, (outcome.fault, outcome.verdict.gates, outcome.verdict.detail[-2000:])


@pytest.mark.parametrize("path", HOSTILE, ids=lambda p: p.stem)
def test_a_hostile_candidate_gets_its_status_and_the_next_one_is_unaffected(session: Session, path: Path) -> None:
    verdict = judge(session, path)
    wanted = {Status(word.strip()) for word in header(path, "expects", "").split(",")}
    assert verdict.status in wanted, (verdict.message, verdict.gates, verdict.detail[-2000:])
    assert session.referee.process is not None
    assert session.referee.process.poll() is None, "the lane died"


def test_after_all_of_that_the_next_attempt_is_unaffected(session: Session) -> None:
    verdict = judge(session, EXPLOITS / "k1_each_language" / "torch.py")
    assert verdict.status is Status.CORRECT, verdict.message


def test_a_candidate_that_looks_everywhere_finds_no_secret(session: Session) -> None:
    problem = registry.find(registry.discover(), RELU)
    planted = replace(problem, source=problem.source + "\n# kbench-canary-100001\n", content_hash="planted")
    before, session.settings = session.settings, replace(session.settings, timeout_s=120.0)
    try:
        verdict = session.judge(planted, read_solution(CANDIDATES.parents[1] / "candidates" / "spy.py"))
    finally:
        session.settings = before
    assert verdict.status is Status.CORRECT, verdict.message


def test_state_that_the_reference_changes_is_compared_on_the_device(session: Session) -> None:
    problem = registry.find(registry.discover(), "level3/003_conv_batchnorm_net")
    verdict = session.judge(problem, builtin_solution("builtin/eager", problem))
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.weights == "by_name"
    state = next(gate for gate in verdict.gates if gate.name == "state")
    assert state.passed
    assert not state.evidence.startswith("0 ")
