"""Every exploit is potent: a naive judge that makes the mistake it lives on believes what it claims. One that does not has rotted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kbench import environment, sandbox
from kbench.attack import problem_of
from kbench.exploits import AttackCase, Claim, Naive, read_manifest, suite_root

CASES = [case for case in read_manifest(suite_root()) if case.exploit is not None]
BELIEVED_SPEEDUP = 1.5  # over the reference, by its clock; what is claimed is a multiple of it
TRIALS = 12  # an exploit that is potent needs one; the more, the less what else runs on the machine decides

Judge = Callable[[AttackCase, str, Naive], dict[str, Any]]


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """One process that has imported torch, and forks for every case."""
    folder = tmp_path_factory.mktemp("naive")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.naive_judge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[1], env=os.environ | sandbox.MALLOC | {"HOME": str(folder), "TMPDIR": str(folder)},
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    log = folder / "log"

    def judge(case: AttackCase, device: str, way: Naive) -> dict[str, Any]:
        log.write_text("")
        order = {
            "problem": problem_of(case).path, "candidate": str(case.path), "device": device, "way": str(way),
            "folder": str(folder), "log": str(log),
        }  # fmt: skip
        server.stdin.write(json.dumps(order) + "\n")
        server.stdin.flush()
        found: dict[str, Any] = json.loads(server.stdout.readline())
        return found | {"log": log.read_text()[-2000:]}

    yield judge
    server.stdin.close()
    server.wait(timeout=10)
    server.stdout.close()


def believes(case: AttackCase, device: str, judge: Judge) -> None:
    """A few trials, since a disturbed machine's clock is wrong and its heap is not laid out as usual."""
    assert case.exploit is not None
    least = BELIEVED_SPEEDUP if case.exploit.claim is Claim.FALSE_TIME else 0.0
    trials = (judge(case, device, case.exploit.fools) for _ in range(TRIALS))
    found = [next((trial for trial in trials if trial["accepted"] and trial["speedup"] >= least), None)]
    assert found[0] is not None, judge(case, device, case.exploit.fools)


@pytest.mark.parametrize("case", [case for case in CASES if case.runs_on("cpu")], ids=lambda case: case.id)
def test_a_naive_judge_believes_the_exploit(naive: Judge, case: AttackCase) -> None:
    believes(case, "cpu", naive)


@pytest.mark.gpu
@pytest.mark.skipif(environment.best_device() == "cpu", reason="no NVIDIA driver answers here")
@pytest.mark.parametrize("case", [case for case in CASES if case.device == "cuda"], ids=lambda case: case.id)
def test_a_naive_judge_on_a_gpu_believes_the_exploit(naive: Judge, case: AttackCase) -> None:
    believes(case, "cuda", naive)
