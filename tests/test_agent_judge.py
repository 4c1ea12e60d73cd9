"""The device as agents share it, and what an episode comes to."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbench.agent import AgentSettings
from kbench.agent.judge import Judge
from kbench.agent.loop import BAD_CALL, MALFORMED_IN_A_ROW, Loop, counts_of
from kbench.agent.outcome import best_so_far, chosen, reward
from kbench.agent.replay import replay
from kbench.agent.tools import Toolbox
from kbench.agent.trajectory import Trajectory, source_name, whole_events
from kbench.evaluate import Settings
from kbench.models import Call, Reply, Request
from kbench.source import source_hash
from kbench.types import Build, Problem, ReplyFacts, Snapshot, Solution, Status, Verdict

from .making import speedup, timing, verdict

PROBLEM = Problem("level1/1_a", 1, "a.py", "", "0")


class CountingSession:
    """In a session's place: notes who is on the device, and how many are."""

    def __init__(self) -> None:
        self.surveys: dict[str, Any] = {PROBLEM.id: None}
        self.on_device = self.most = self.building = self.most_building = 0
        self.order: list[str] = []
        self.lock = threading.Lock()

    def build_for(self, problem: Problem, solution: Solution) -> Build:
        with self.lock:
            self.building += 1
            self.most_building = max(self.most_building, self.building)
        time.sleep(0.02)
        with self.lock:
            self.building -= 1
        return Build("k", "folder", "", 0.0, False)

    def judge(self, problem: Problem, solution: Solution, settings: Settings) -> Verdict:
        with self.lock:
            self.on_device += 1
            self.most = max(self.most, self.on_device)
            self.order.append(solution.origin)
        time.sleep(0.005)
        with self.lock:
            self.on_device -= 1
        return verdict(Status.CORRECT)


def test_eight_agents_have_the_device_one_at_a_time_and_none_is_left_behind() -> None:
    session = CountingSession()
    judge = Judge(session, Settings(), 2)  # type: ignore[arg-type]

    def agent(name: str) -> None:
        for _ in range(6):
            judge.profile(PROBLEM, Solution("", name))

    threads = [threading.Thread(target=agent, args=(str(at),)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    judge.close()
    assert session.most == 1
    assert session.most_building == 2
    assert len(session.order) == 48
    for name in {str(at) for at in range(8)}:
        turns = [at for at, who in enumerate(session.order) if who == name]
        # With two builds at once the queue before the device is short: nobody waits for more than two rounds of the others.
        assert max(after - before for before, after in itertools.pairwise(turns)) <= 16


@pytest.mark.parametrize(
    ("eager", "compiled", "expected"),
    [
        (1.0, 1.0, 1), (1.05, 2.0, 1), (1 / 0.95, 2.0, 1), (1.06, 1.0, 2), (1.06, 1.06, 3),
        (0.9, 1.2, 1),  # faster than compile alone, which is slower than eager
    ],
)  # fmt: skip
def test_the_reward_is_that_of_the_paper_at_its_corners(eager: float, compiled: float, expected: int) -> None:
    timed = timing(speedup("eager", eager), speedup("compile", compiled))
    assert reward(verdict(Status.CORRECT, timed)) == expected
    assert reward(verdict(Status.INCORRECT)) == reward(None) == -1


def test_the_best_of_a_trajectory_is_the_fastest_correct_one_over_compile() -> None:
    base = Snapshot("profile", 1, "a", Status.CORRECT, "", {"eager": 3.0, "compile": 1.0})
    shots = [
        replace(base, kind="verify", speedups={"eager": 9.0}),
        base,
        replace(base, turn=2, speedups={"eager": 2.0, "compile": 1.5}),
        replace(base, turn=3, status=Status.INCORRECT, speedups={"eager": 99.0, "compile": 99.0}),
        replace(base, turn=4, speedups={"eager": 2.0, "compile": 1.2}),
    ]
    assert chosen(shots) == 2
    assert [(s.turn, value) for s, value in best_so_far(shots, "compile")] == [(1, 1.0), (2, 1.5)]
    assert chosen([replace(base, status=Status.INCORRECT), replace(base, status=Status.TIMEOUT)]) == 1
    assert chosen([]) is None


def test_a_stored_trajectory_is_judged_again_state_by_state(tmp_path: Path) -> None:
    trajectory = Trajectory(tmp_path)
    wrong, right = "wrong", "class ModelNew: pass\n"
    for kind, source, status in (("verify", wrong, Status.INCORRECT), ("profile", right, Status.CORRECT)):
        trajectory.add_snapshot(Snapshot(kind, 1, source_hash(source), status, ""), source)
    trajectory.add_snapshot(Snapshot("verify", 2, source_hash(right), Status.TIMEOUT, ""), right)
    trajectory.close()
    asked: list[str] = []

    class Stub:
        def verify(self, problem: Problem, solution: Solution) -> Verdict:
            asked.append("verify")
            return verdict(Status.INCORRECT)

        def profile(self, problem: Problem, solution: Solution) -> Verdict:
            asked.append("profile")
            return verdict(Status.CORRECT, timing(speedup("eager", 2.0)))

    again = list(replay(tmp_path, PROBLEM, "level1/1_a#0", "test", Stub(), lambda _: None))  # type: ignore[arg-type]
    assert asked == ["verify", "profile", "verify"]
    assert [one.differs is None for one in again] == [True, True, False]
    assert "2x eager) now" in again[1].note
    (tmp_path / source_name(source_hash(right))).write_text("class ModelNew: ...\n")
    again = list(replay(tmp_path, PROBLEM, "level1/1_a#0", "test", Stub(), lambda _: None))  # type: ignore[arg-type]
    assert again[1].differs == "the stored solution is not the one that was judged"


def test_a_torn_trajectory_keeps_its_whole_turns_and_the_reply_of_the_open_one(tmp_path: Path) -> None:
    calls = (Call("1", "Bash", "{}"), Call("2", "Bash", "{}"))
    trajectory = Trajectory(tmp_path)
    trajectory.begin(task="", system="", tools=[])
    for turn in range(2):
        trajectory.keep(Request(PROBLEM, 0, turn=turn), Reply("x", calls=calls))
        for at in range(2 - turn):  # the second turn is left open
            trajectory.add(
                "result", turn=turn, id=f"{at}:{at + 1}", name="Bash", text="", failed=False, malformed=False
            )
    trajectory.close()
    with (tmp_path / "trajectory.jsonl").open("ab") as file:
        file.write(b'{"event":"result","tur')
    again = Trajectory(tmp_path)
    assert [event["event"] for event in again.events] == ["begin", "reply", "result", "result", "reply"]
    found = again.find(Request(PROBLEM, 0, turn=1))
    assert found is not None
    assert found.calls == calls
    assert again.find(Request(PROBLEM, 0, turn=2)) is None
    again.close()
    assert whole_events(tmp_path / "trajectory.jsonl") == again.events


def test_a_call_that_its_provider_could_not_read_is_asked_for_again_and_many_in_a_row_end_the_episode(
    tmp_path: Path,
) -> None:
    trajectory = Trajectory(tmp_path)
    trajectory.begin(task="", system="", tools=[])
    heard: list[Request] = []

    def ask(request: Request) -> Reply:
        heard.append(request)
        reply = Reply("", facts=ReplyFacts("stub", 10, 5, stop_reason="MALFORMED_FUNCTION_CALL"))
        trajectory.keep(request, reply)
        return reply

    def no_box(tar: bytes | None) -> Any:
        raise AssertionError("nothing is to be done in it")

    loop = Loop(PROBLEM, 0, "the task", AgentSettings(), Toolbox(None), trajectory, no_box, None, ask)  # type: ignore[arg-type]
    assert loop.play() == "malformed"
    assert len(heard) == loop.counts.malformed == counts_of(trajectory).malformed == MALFORMED_IN_A_ROW
    assert heard[-1].messages[0].text == "the task"
    assert heard[-1].messages[-1].text == BAD_CALL
    assert counts_of(trajectory).tokens == 15 * MALFORMED_IN_A_ROW
    trajectory.close()
