"""The referee end to end on the CPU device: what breaks or attacks it gets its status and leaves nothing.

Known cheats and the honest controls are in tests/test_attack.py.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kbench import registry
from kbench.evaluate import Session, read_solution
from kbench.models.builtin import builtin_solution
from kbench.referee.rounds import twin_places
from kbench.types import Solution, Status

from .candidate_files import RELU, header, judge
from .conftest import CANDIDATES, EXPLOITS, HIDDEN_KEY

HOSTILE = sorted((CANDIDATES / "hostile").glob("*.py"))


@pytest.fixture(autouse=True)
def planted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a driver's environment has it: commands that ran in this process before have taken it out."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", HIDDEN_KEY)


def leftovers(session: Session) -> set[str]:
    """Processes of this session's candidates that still run, and their cgroups."""
    assert session.referee.process is not None
    mark = f"kbench-{session.referee.process.pid}-candidate"
    found = {str(folder) for folder in Path("/sys/fs/cgroup").glob(f"**/{mark}-*")}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{pid}/cgroup").read_text():
                found.add(f"process {pid}: {Path(f'/proc/{pid}/stat').read_text()[:60]}")
        except OSError:
            continue
    return found


def nothing_left(session: Session) -> bool:
    """What was killed is reaped a moment later."""
    deadline = time.monotonic() + 5.0
    while (found := leftovers(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not found
    return True


def boxes(session: Session) -> list[str]:
    """Sandbox folders of this session's lane: the reference's alone outlives a judging."""
    return [path.name for path in session.referee.scratch.glob("box*")]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda p: p.stem)
def test_a_hostile_candidate_gets_its_status_and_leaves_nothing(session: Session, path: Path) -> None:
    verdict = judge(session, path)
    wanted = {Status(word.strip()) for word in header(path, "expects", "").split(",")}
    assert verdict.status in wanted, (verdict.message, verdict.detail[-2000:])
    assert verdict.status is not Status.INFRA_ERROR
    assert nothing_left(session)
    assert len(boxes(session)) <= 1
    assert any(not gate.passed for gate in verdict.gates) or verdict.status is Status.CORRECT


def test_a_candidate_that_looks_everywhere_finds_no_secret(session: Session) -> None:
    problem = registry.find(registry.discover(), RELU)
    planted = replace(problem, source=problem.source + "\n# kbench-canary-100001\n", content_hash="planted")
    before, session.settings = session.settings, replace(session.settings, timeout_s=60.0)
    try:
        verdict = session.judge(planted, read_solution(CANDIDATES / "spy.py"))
    finally:
        session.settings = before
    assert verdict.status is Status.CORRECT, verdict.message


def test_the_planted_key_is_in_the_drivers_environment() -> None:
    assert re.fullmatch(r"kbench-canary-\d{6}", os.environ["ANTHROPIC_API_KEY"])  # else the test above proves nothing


def test_a_kernel_that_does_everything_ten_times_is_told_to_be_slower(session: Session) -> None:
    # How far ratios can be trusted is measured by tests/benchmarks/known_ratio.py; this holds on a loaded machine too.
    problem = registry.find(registry.discover(), "level1/023_softmax")
    tenfold = Solution(
        "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        "        for _ in range(9):\n            torch.softmax(x, -1)\n        return torch.softmax(x, -1)\n",
        "tenfold.py",
    )
    verdict = session.judge(problem, tenfold)
    assert verdict.timing is not None
    speedup = verdict.timing.speedup("eager")
    assert speedup is not None
    assert speedup.value < 0.7


def test_one_that_is_slow_in_its_second_call_alone_gets_the_planned_blocks_too(session: Session) -> None:
    # It chose blocks of four calls for itself, whatever it did afterwards.
    problem = registry.find(registry.discover(), RELU)
    source = (
        "import time, torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.calls = 0\n    def forward(self, x):\n        self.calls += 1\n"
        "        time.sleep(2.0 if self.calls == 2 else 0.0)\n        return torch.relu(x)\n"
    )
    verdict = session.judge(problem, Solution(source, "slow_second.py"))
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.timing is not None
    counts = {sample.k for sample in verdict.timing.samples if sample.side == "candidate"}
    assert {1, 2, 3, 4} < counts
    assert max(counts) > 8


def test_a_wrong_kernel_is_shown_its_first_wrong_element(session: Session) -> None:
    problem = registry.find(registry.discover(), RELU)
    source = (
        "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        "        y = torch.relu(x)\n        y[3, 5] += 1\n        return y\n"
    )
    verdict = session.judge(problem, Solution(source, "wrong.py"))
    assert verdict.status is Status.INCORRECT
    assert verdict.mismatch is not None
    assert verdict.mismatch.index == (3, 5)
    assert verdict.failed_call is not None


@pytest.mark.slow
def test_a_compile_error_shows_the_compilers_own_line(session: Session) -> None:
    source = (
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
        "load_inline('broken', cpp_sources=['#error kbench-first-line\\nint f() { return undeclared_here; }'], functions=['f'])\n"
        "class ModelNew(torch.nn.Module):\n    pass\n"
    )
    verdict = session.judge(registry.find(registry.discover(), RELU), Solution(source, "broken.py"))
    assert verdict.status is Status.COMPILE_ERROR
    assert "kbench-first-line" in verdict.message


def test_the_reference_judged_as_a_candidate_is_correct(session: Session) -> None:
    problem = registry.find(registry.discover(), "level3/003_conv_batchnorm_net")
    verdict = session.judge(problem, builtin_solution("builtin/eager", problem))
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.weights == "by_name"


def test_after_all_of_that_the_next_attempt_is_unaffected(session: Session) -> None:
    verdict = judge(session, EXPLOITS / "k1_each_language" / "torch.py")
    assert verdict.status is Status.CORRECT
    assert not leftovers(session)
    assert len(boxes(session)) == 1


@pytest.mark.parametrize("calls", [2, 3, 4, 32])
def test_a_near_duplicate_stands_beside_its_original_and_another_anywhere(calls: int) -> None:
    # Anywhere alone, a cache of seven answers met both of them in two blocks of three: 4 of 24 judgings let it through.
    found = {tuple(twin_places(calls)) for _ in range(2000)}
    assert all(abs(original - beside) == 1 for original, beside, *_ in found)
    assert all(len(set(places)) == len(places) == min(3, calls) for places in found)
    assert {place for places in found for place in places} == set(range(calls))


def test_a_wrong_candidate_leaves_the_references_ready_for_the_next_one(session: Session) -> None:
    # They were left waiting for a block, deaf to the next weights: the next candidate, and all after it, had their time out.
    problem = registry.find(registry.discover(), "level1/040_layer_norm")
    text = "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, features):\n        super().__init__()\n"
    text += "        self.norm = torch.nn.LayerNorm(features)\n    def forward(self, x):\n        return self.norm(x)"
    before, session.settings = session.settings, replace(session.settings, timeout_s=30.0)
    try:
        wrong = [session.judge(problem, Solution(f"{text} + {by}\n", f"wrong{by}.py")) for by in (1, 2)]
        right = session.judge(problem, Solution(f"{text}\n", "right.py"))
    finally:
        session.settings = before
    assert [verdict.status for verdict in wrong] == [Status.INCORRECT] * 2, wrong
    assert right.status is Status.CORRECT, right.message
