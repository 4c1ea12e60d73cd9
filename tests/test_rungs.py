"""The weaker and the other rungs of the sandbox carry a judging too, and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbench import sandbox
from kbench.attack import attack
from kbench.evaluate import Session, Settings
from kbench.exploits import read_manifest
from kbench.types import Status
from tests.candidate_files import header, judge
from tests.conftest import CANDIDATES, EXPLOITS

CASES = (
    "k1_each_language/torch", "k4_packed_weights/on_load", "k3_static_buffers/static_output", "P3_clean_exit/exit_zero",
    "P1_forged_result/claims_on_every_channel", "P1_forged_result/early_done", "C1_stale_memory/first_row",
)  # fmt: skip
HOSTILE = ("endless_loop", "segfault")


@pytest.mark.slow
@pytest.mark.parametrize("rung", ["bubblewrap", "rlimits"])
def test_a_judging_on_this_rung(rung: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reason = sandbox.probe(rung)
    if reason is not None:
        pytest.skip(f"{rung}: {reason}")
    monkeypatch.setattr(sandbox, "choose", lambda required: rung)
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path))
    settings = Settings(protocol="quick", policy="any", baselines=("eager",), timeout_s=8.0)
    with Session(settings) as session:
        for case in read_manifest(EXPLOITS):
            if case.id in CASES:
                outcome = attack(session, case)
                assert outcome.held, (case.id, outcome.fault, outcome.verdict.gates, outcome.verdict.detail[-1000:])
                assert outcome.verdict.sandbox == rung
        for name in HOSTILE:
            path = CANDIDATES / "hostile" / f"{name}.py"
            verdict = judge(session, path)
            wanted = {Status(word.strip()) for word in header(path, "expects", "correct").split(",")}
            assert verdict.status in wanted, (name, verdict.message, verdict.gates, verdict.detail[-1000:])
            assert verdict.sandbox == rung
