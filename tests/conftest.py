"""What the tests share. The judging tests use one session, and so one warm lane, per settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbench.evaluate import Session, Settings

CANDIDATES = Path(__file__).parent / "candidates"
EXPLOITS = Path(__file__).parent / "exploits"
JUDGING = (
    "admission", "agent", "agent_workdir", "api", "attack", "build_faults", "judging", "kill", "naive_judge", "run", "run_models",
    "rungs", "solutions",
)  # fmt: skip
HIDDEN_KEY = "kbench-canary-" + "100002"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of two workers one takes all that judges or measures, in order, and the other one the rest beside it."""
    from xdist.scheduler import LoadScopeScheduling

    class Queues(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = Path(nodeid.partition("::")[0]).stem.removeprefix("test_")
            return "judging" if file in JUDGING else file

    return Queues(config, log)


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Quick, eager only, eight seconds a block: a hostile candidate must not hold up the suite."""
    os.environ["KBENCH_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["ANTHROPIC_API_KEY"] = HIDDEN_KEY
    with Session(Settings(protocol="quick", policy="any", baselines=("eager",), timeout_s=8.0)) as opened:
        yield opened


@pytest.fixture
def quick_google(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-genai's back-off starts at a second and knows no header that would shorten it; here it hardly waits."""
    import tenacity

    monkeypatch.setattr(tenacity, "wait_exponential_jitter", lambda **_: tenacity.wait_fixed(0.01))
