"""The whole line through the commands, with a judge of twenty lines in the referee's place: what is asked, kept and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kbench.errors import ProblemError
from kbench.evaluate import Settings, Wanted
from kbench.referee.case import ProblemCase
from kbench.referee.client import Survey
from kbench.types import Problem, Solution, Status, Verdict

from .making import timing, verdict, whole_lines
from .test_cli import run

PROBLEM = """
class Model: pass
def get_inputs(): return []
def get_init_inputs(): return []
"""
JUDGED = "KBENCH_TEST_JUDGED"  # the file that notes every judging


class Judge:
    """Stands in a session's place: a solution is right where its text says so."""

    rung = "stub"

    def __init__(self, settings: Settings) -> None:
        self.surveys = 0

    def survey(self, cases: list[ProblemCase]) -> list[Survey]:
        self.surveys += 1
        return [Survey(None, (), {"inputs": 1, "outputs": 1, "weights": 0}) for _ in cases]

    def judge(self, problem: Problem, solution: Solution) -> Verdict:
        with open(os.environ[JUDGED], "a") as file:
            file.write(f"{problem.id} {Path(solution.origin).name}\n")
        return verdict(Status.CORRECT, timing()) if "right" in solution.source else verdict(Status.INCORRECT)

    def build_all(self, wanted: list[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        pass

    def compile_ahead(self, wanted: list[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        pass

    def available_bytes(self) -> int:
        return 8 << 30

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of problems 1, 2 and 10, and a KernelBench run: 1 right and wrong, 2 one and wrong, 10 right twice."""
    (tmp_path / "suite" / "level1").mkdir(parents=True)
    (tmp_path / "run").mkdir()
    for number, samples in ((1, ("right", "wrong")), (2, ("wrong",)), (10, ("right", "right"))):
        (tmp_path / "suite" / "level1" / f"{number}_Gate{number}.py").write_text(PROBLEM)
        for sample, text in enumerate(samples):
            kernel = tmp_path / "run" / f"level_1_problem_{number}_sample_{sample}_kernel.py"
            kernel.write_text(f"class ModelNew:  # {text} {number}\n    pass\n")
    monkeypatch.setenv(JUDGED, str(tmp_path / "judged"))
    monkeypatch.setattr("kbench.evaluate.Session", Judge)
    return tmp_path


def arguments(folder: Path) -> list[str]:
    return [
        "eval", str(folder / "run"), "--suite", str(folder / "suite"), "--results", str(folder / "results"),
        "--run-id", "one", "--samples", "2", "--json",
    ]  # fmt: skip


def judged(folder: Path) -> Counter[str]:
    return Counter((folder / "judged").read_text().splitlines())


def test_a_problem_with_too_few_samples_has_no_pass_at_2_and_the_level_says_over_how_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, *arguments(folder))
    found = json.loads(out)
    level = found["levels"][0]
    assert code == 0
    assert level["attempts"] == 5
    assert level["pass_at_k"]["1"]["value"] == pytest.approx(0.5)  # (1/2 + 0 + 1) / 3
    assert level["pass_at_k"]["2"]["note"] == "over 2 of 3 problems"
    assert {p["id"]: p["pass_at_k"]["2"] for p in found["problems"]} == {
        "level1/1_Gate1": 1.0, "level1/2_Gate2": None, "level1/10_Gate10": 1.0,
    }  # fmt: skip
    assert [p["id"] for p in found["problems"]] == ["level1/1_Gate1", "level1/2_Gate2", "level1/10_Gate10"]
    assert found["missing"] == ["level1/2_Gate2#1"]
    assert judged(folder)["level1/1_Gate1 level_1_problem_10_sample_0_kernel.py"] == 0


def test_the_same_command_again_judges_nothing_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = run(capsys, *arguments(folder))[1]
    assert json.loads(run(capsys, *arguments(folder))[1])["levels"] == json.loads(before)["levels"]
    assert set(judged(folder).values()) == {1}


@pytest.mark.parametrize("where", ["at the end", "in the middle"])
def test_a_torn_run_is_repaired_and_only_what_was_torn_is_judged_again(
    folder: Path, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    run(capsys, *arguments(folder))
    path = folder / "results" / "one" / "attempts.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    torn = 4 if where == "at the end" else 1
    lines[torn] = lines[torn][: len(lines[torn]) // 2]  # without its newline, so that the next record is glued to it
    path.write_bytes(b"".join(lines))
    assert run(capsys, "show", "one", "--results", str(folder / "results"))[0] == 0
    code, out, _ = run(capsys, *arguments(folder))
    assert code == 0
    assert json.loads(out)["levels"][0]["statuses"]["correct"] == 3
    assert sorted(Counter(line["key"] for line in whole_lines(path.parent)).values()) == [1] * 5
    assert sorted(judged(folder).values()) == [1, 1, 1, 1, 2]


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.test_run import Judge
import kbench.evaluate, kbench.cli
kbench.evaluate.Session = Judge
left, sync = int(sys.argv[2]), os.fsync
def fsync(descriptor):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)
os.fsync = fsync
kbench.cli.main(sys.argv[3:])
"""


@pytest.mark.parametrize("writes", [1, 3, 5, 6, 19])
def test_a_run_killed_at_any_write_is_finished_by_the_same_command_and_nothing_is_recorded_twice(
    folder: Path, capsys: pytest.CaptureFixture[str], writes: int
) -> None:
    here = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", KILLED, here, str(writes), *arguments(folder)]
    killed = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    code, out, _ = run(capsys, *arguments(folder))
    assert code == 0
    level = json.loads(out)["levels"][0]
    assert (level["statuses"]["correct"], level["statuses"]["incorrect"]) == (3, 2)
    assert sorted(Counter(line["key"] for line in whole_lines(folder / "results" / "one")).values()) == [1] * 5
    assert sum(judged(folder).values()) <= 6  # the attempt that was under way is judged again, no other
    assert [p.name for p in (folder / "results").rglob("*.tmp")] == []


def test_a_suite_is_looked_at_many_problems_at_a_time_and_says_how_far_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    look = Judge.survey
    monkeypatch.setattr(Judge, "survey", lambda self, cases: (calls.append(len(cases)), look(self, cases))[1])
    for number in range(11, 71):
        (folder / "suite" / "level1" / f"{number}_More.py").write_text(PROBLEM)
    _, _, err = run(capsys, "run", "--model", "builtin/eager", *arguments(folder)[2:6])
    assert sum(size for size in calls if size > 1) == 63
    assert max(calls) <= 25
    assert "looked at 50 of 63 problems" in err


def test_a_problem_that_cannot_be_run_is_one_line_and_exit_two_after_the_others_are_judged(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge.judge

    def broken(self: Judge, problem: Problem, solution: Solution) -> Verdict:
        if problem.name == "2_Gate2":
            raise ProblemError(f"{problem.id}: get_inputs() raised ValueError:\nno inputs today")
        return judge(self, problem, solution)

    monkeypatch.setattr(Judge, "judge", broken)
    code, out, err = run(capsys, *arguments(folder), "--display", "none")
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert "level1/2_Gate2: get_inputs() raised ValueError: no inputs today" in err
    assert len(judged(folder)) == 4


def test_progress_counts_what_is_made_now_and_not_what_an_earlier_run_settled_or_nobody_answered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "[5/5, " in run(capsys, *arguments(folder))[2]
    path = folder / "results" / "one" / "attempts.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    err = run(capsys, *arguments(folder))[2]
    assert "1 of 5 attempts to judge" in err
    assert "[1/1, " in err


def test_a_problem_of_a_suite_that_cannot_be_loaded_does_not_keep_the_others_from_being_judged(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Judge.survey

    def survey(self: Judge, cases: list[ProblemCase]) -> list[Survey]:
        if any(case.id == "level1/1_Gate1" for case in cases):
            raise ProblemError("level1/1_Gate1: it could not be loaded: no such module")
        return look(self, cases)

    monkeypatch.setattr(Judge, "survey", survey)
    code, _, err = run(capsys, *arguments(folder), "--display", "none")
    assert code == 2
    assert err.count("\n") == 1
    assert "no such module; the other problems' attempts are kept" in err
    assert {line.split()[0] for line in judged(folder)} == {"level1/2_Gate2", "level1/10_Gate10"}
