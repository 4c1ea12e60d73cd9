"""The weaker and the other rungs of the sandbox carry a judging too, and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbench import sandbox
from kbench.evaluate import Session, Settings
from kbench.types import Status
from tests.candidate_files import header, judge

CANDIDATES = Path(__file__).parent / "candidates"
HONEST = ("plain_torch", "packed_weights", "static_output_buffer")
HOSTILE = ("endless_loop", "segfault", "exit_zero", "forged_messages", "early_done", "stale_memory")


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
        for kind, names in (("honest", HONEST), ("hostile", HOSTILE)):
            for name in names:
                path = CANDIDATES / kind / f"{name}.py"
                verdict = judge(session, path)
                wanted = {Status(word.strip()) for word in header(path, "expects", "correct").split(",")}
                assert verdict.status in wanted, (name, verdict.message, verdict.gates, verdict.detail[-1000:])
                assert verdict.sandbox == rung
