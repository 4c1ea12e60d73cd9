"""The shipped solutions through the commands: the right ones pass, and there is a wrong one for every status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kbench import registry
from kbench.models import Request
from kbench.models.replay import Replay
from kbench.types import Status

from .test_cli import run

SOLUTIONS = registry.builtin_root() / "solutions"
WRONG = sorted(path.name for path in (SOLUTIONS / "wrong").iterdir())
FAILURES = {str(status) for status in Status} - {Status.CORRECT, Status.INFRA_ERROR}


def asked_for(name: str) -> str:
    """The status in a wrong solution's name: problem__status.suffix."""
    return name.partition("__")[2].partition(".")[0]


def test_there_is_a_wrong_solution_for_every_status_that_is_the_models_fault() -> None:
    assert {asked_for(name) for name in WRONG} == FAILURES


def test_the_wrong_solutions_are_no_samples_of_the_right_ones() -> None:
    model = Replay(str(SOLUTIONS))
    for problem in registry.discover():
        replies = [model.generate(Request(problem, sample)) for sample in range(9)]
        assert not [reply.origin for reply in replies if reply is not None and "wrong" in reply.origin]


def test_twelve_problems_over_three_levels_have_a_solution_and_all_three_languages_occur() -> None:
    model = Replay(str(SOLUTIONS))
    covered = [problem for problem in registry.discover() if model.covers(problem)]
    assert len(covered) >= 12
    assert {problem.level for problem in covered} == {1, 2, 3}
    files = [path.stem for path in SOLUTIONS.glob("level*/*.py")]
    assert all(any(name.endswith(f"__{language}") for name in files) for language in ("cpp", "triton", "cuda"))


@pytest.mark.slow
def test_each_wrong_solution_gets_its_status_from_one_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    code, _, err = run(
        capsys, "run", "--model", f"replay/{SOLUTIONS / 'wrong'}", "--samples", str(len(WRONG)), "--quick",
        "--baseline", "eager", "--timeout", "8", "--results", str(tmp_path), "--run-id", "wrong", "--display", "plain",
    )  # fmt: skip
    assert code == 0
    records = map(json.loads, (tmp_path / "wrong" / "attempts.jsonl").read_text().splitlines())
    given = {Path(record["origin"]).name: record["status"] for record in records}
    assert given == {name: asked_for(name) for name in WRONG}
    assert len(re.findall(r"built level1/019_relu", err)) == 7  # the two without code are not


@pytest.mark.slow
def test_the_solutions_that_build_in_a_second_are_correct_on_the_cpu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    plain = [path.stem for path in sorted(SOLUTIONS.glob("level*/*.py")) if "__" not in path.stem]
    chosen = [argument for name in plain for argument in ("-p", name)]
    code, out, _ = run(
        capsys, "run", "--model", f"replay/{SOLUTIONS}", *chosen, "--quick", "--baseline", "eager",
        "--results", str(tmp_path), "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert {p["id"]: p["statuses"] for p in found["problems"]} == {p["id"]: {"correct": 1} for p in found["problems"]}
    assert len(found["problems"]) == len(plain) >= 9
