"""torch.compile ahead of the judging: Inductor's cache holds afterwards what a reference worker would compile."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbench import environment, registry
from kbench.evaluate import Session, Settings, Wanted, problem_case
from kbench.models.builtin import builtin_solution
from kbench.referee.case import ProblemCase
from kbench.referee.client import Survey
from kbench.referee.room import Room
from kbench.types import Status

SETTINGS = Settings(protocol="quick", policy="any")


def test_what_was_compiled_ahead_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path))
    problems = registry.select(registry.discover(), (1,), ["019_relu", "040_layer_norm"], None)
    cases = [problem_case(problem, SETTINGS) for problem in problems]

    def libraries() -> set[Path]:
        return set((tmp_path / "inductor").rglob("*.so"))

    with Session(SETTINGS) as session:
        found = session.referee.compile([(case, "") for case in cases], [1 << 20] * 2, room=1e9, jobs=2, limit_s=120.0)
        assert [set(one) for one in found] == [{"seconds"}] * 2, found
        ahead = libraries()
        assert len(ahead) >= 2
        verdict = session.judge(problems[1], builtin_solution("builtin/eager", problems[1]))
        assert verdict.status is Status.CORRECT, verdict.message
        assert verdict.timing is not None
        assert "compile" in verdict.timing.latency_us
        assert libraries() == ahead


def test_a_problem_that_cannot_be_compiled_says_why_and_the_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path))
    folder = tmp_path / "suite" / "level1"
    folder.mkdir(parents=True)
    source = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return {}\n"
    ends = "def get_inputs():\n    return [torch.ones(3)]\ndef get_init_inputs():\n    return []\n"
    (folder / "1_bad.py").write_text(source.format("x @ torch.ones(4)") + ends)
    (folder / "2_good.py").write_text(source.format("x + 1") + ends)
    cases = [problem_case(problem, SETTINGS) for problem in registry.discover(tmp_path / "suite")]
    with Session(SETTINGS) as session:
        bad, good = session.referee.compile([(case, "") for case in cases], [1, 1], room=1e9, jobs=2, limit_s=120.0)
    assert "failed" in bad
    assert "seconds" in good


def test_on_a_gpu_every_problem_is_compiled_once_in_every_mode_that_judging_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(environment, "device_key", lambda device: device)
    monkeypatch.setattr(Session, "available_bytes", lambda self: 100 << 30)
    problems = registry.select(registry.discover(), (1,), ["019_relu", "040_layer_norm"], None)
    settings = replace(SETTINGS, device="cuda:0", shapes="full")
    asked: list[tuple[str, str]] = []

    def compiled(
        these: list[tuple[ProblemCase, str]], sizes: list[int], room: float, jobs: int, limit_s: float
    ) -> list[dict[str, Any]]:
        asked.extend((case.id, mode) for case, mode in these)
        return [{"failed": "no"} if "relu" in case.id else {"seconds": 1.0} for case, _ in these]

    def wanted(model: str, baselines: tuple[str, ...]) -> list[Wanted]:
        own = replace(settings, baselines=baselines)
        return [Wanted(p.id, p, builtin_solution(model, p), own) for p in problems * 2]

    with Session(settings) as session:
        monkeypatch.setattr(session, "survey", lambda cases: [Survey(None, (), {"inputs": 1}) for _ in cases])
        monkeypatch.setattr(session.referee, "compile", compiled)
        for _ in range(2):
            session.compile_ahead(wanted("builtin/eager", ("eager", "compile")), 4, str)
        session.compile_ahead(wanted("builtin/eager", ("eager",)), 4, str)
        session.compile_ahead(wanted("builtin/compile-max-autotune", ("eager",)), 4, str)
    relu, norm = (problem.id for problem in problems)
    autotuned = "max-autotune-no-cudagraphs"
    assert asked == [(relu, ""), (norm, ""), (relu, ""), (relu, autotuned), (norm, autotuned)]


def test_room_is_never_overbooked_and_who_needs_more_than_all_of_it_gets_it_alone() -> None:
    room, held, most = Room(10), [0.0], [0.0]
    lock = threading.Lock()

    def take(needed: float) -> None:
        with room.of(needed):
            with lock:
                held[0] += needed
                most[0] = max(most[0], held[0])
                assert held[0] <= 10 or held[0] == needed
            threading.Event().wait(0.005)
            with lock:
                held[0] -= needed

    threads = [threading.Thread(target=take, args=(needed,)) for needed in (4, 4, 4, 25, 7, 3, 25, 10, 1) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert held == [0.0]
    assert most == [25]
