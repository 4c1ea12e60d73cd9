"""What the tests share. The judging tests use one session, and so one warm lane, per settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbench.evaluate import Session, Settings

CANDIDATES = Path(__file__).parent / "candidates"
EXPLOITS = Path(__file__).parent / "exploits"
COMPUTE = ("test_prompts.py", "test_wire.py")  # slow, and no judge of anything
HIDDEN_KEY = "kbench-canary-" + "100002"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever judges or measures stands in one queue, which one worker takes; the other tests run beside it."""
    for item in items:
        judges = {"session", "naive"} & set(getattr(item, "fixturenames", ())) or item.get_closest_marker("slow")
        if judges and item.path.name not in COMPUTE:
            item.add_marker(pytest.mark.xdist_group("judging"))


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
