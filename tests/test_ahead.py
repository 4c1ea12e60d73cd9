"""torch.compile ahead of the judging: Inductor's cache holds afterwards what a reference worker would compile."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kbench import registry
from kbench.evaluate import Session, Settings, problem_case
from kbench.models.builtin import builtin_solution
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
        found = session.referee.compile(cases, [1 << 20] * 2, room=1e9, jobs=2, limit_s=120.0)
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
        bad, good = session.referee.compile(cases, [1, 1], room=1e9, jobs=2, limit_s=120.0)
    assert "failed" in bad
    assert "seconds" in good


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
