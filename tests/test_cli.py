"""The command line: bad input is one line that says what and how to mend it, with exit code 2, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbench.cli import main

from .making import filled

NOWHERE = "http://127.0.0.1:9/v1"
RELU = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out = capsys.readouterr()
    code = ended.value.code
    return (code if isinstance(code, int) else 0), out.out, out.err


@pytest.fixture
def solution(tmp_path: Path) -> str:
    path = tmp_path / "solution.py"
    path.write_text("class ModelNew: pass\n")
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["eval", "--solution", "SOLUTION", "--problem", "level1/999_nothing"], "999_nothing"),
        (["eval", "--solution", "SOLUTION", "--problem", "019_relu", "--device", "cuda:7"], "--device cuda:7"),
        (["eval", "--solution", "SOLUTION", "--problem", "019_relu", "--baseline", "fast"], "--baseline"),
        (["eval", "--solution", "SOLUTION", "--problem", "019_relu", "--shapes", "huge"], "no shapes 'huge'"),
        (["eval", "--solution", "nowhere.py", "--problem", "019_relu"], "nowhere.py"),
        (["eval", "--solution", "SOLUTION"], "--problem"),
        (["eval"], "--solution"),
        (["run", "--model", "nobody/knows"], "nobody/knows"),
        (["run", "--model", "builtin/fast"], "builtin/fast"),
        (["run", "--model", "builtin/eager", "--level", "9"], "no level 9"),
        (["run", "--model", "replay/nowhere"], "nowhere"),
        (["run", "--model", "replay/"], "replay/PATH"),
        (["run"], "--model"),
        (["run", "--model", "builtin/eager", "--quik"], "--quik"),
        (["run", "--model", "builtin/eager", "--limit", "0"], "--limit"),
        (["run", "--model", "builtin/eager", "--suite", "nowhere"], "nowhere"),
        (["run", "--model", "builtin/eager", "--run-id", "../elsewhere"], "--run-id"),
        (["run", "--model", "builtin/eager", "--run-id", ".."], "--run-id"),
        (["run", "--model", "builtin/eager", "--timeout", "nan"], "--timeout"),
        (["run", "--model", "builtin/eager", "--max-cost", "inf"], "--max-cost"),
        (["run", "--model", "gpt5"], "did you mean openai/NAME?"),
        # What is wrong with the flags is said before a server is asked.
        (["run", "--model", "local/x", "--base-url", NOWHERE, "--level", "9"], "no level 9"),
        (["run", "--model", "local/x", "--base-url", NOWHERE, "--max-time", "5x"], "--max-time"),
        (["run", "--model", "local/x", "--base-url", NOWHERE, "--shapes", "huge"], "no shapes 'huge'"),
        (["run", "--model", "local/x", "--base-url", NOWHERE, "-p", "019_relu"], "start the server"),
        (["generate", "--model", "local/x", "--base-url", NOWHERE, "--suite", "nowhere"], "nowhere"),
        (["run", "--model", "builtin/eager", "--level", "1-3", "--samples", "10000"], "at most 1000000 attempts"),
        (["show", "no-such-run"], "no-such-run"),
        (["attack", "--device", "cpu", "--family", "T99"], "t99"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, solution: str, arguments: list[str], says: str
) -> None:
    given = [solution if argument == "SOLUTION" else argument for argument in arguments]
    code, _, err = run(
        capsys, *given, *(["--results", str(tmp_path / "results")] if given[0] not in ("show", "attack") else [])
    )
    assert code == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def broken(:\n", "1_Bad.py:1"),
        ("def get_inputs(): return []\ndef get_init_inputs(): return []\n", "defines no Model"),
    ],
)
def test_a_problem_file_that_is_none_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, solution: str, text: str, says: str
) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_Bad.py").write_text(text)
    code, _, err = run(capsys, "eval", "--solution", solution, "--problem", "level1/1_Bad", "--suite", str(tmp_path))
    assert code == 2
    assert says in err


def test_an_empty_folder_of_solutions_is_said_to_be_empty(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "eval", str(tmp_path), "--results", str(tmp_path / "results"))
    assert code == 2
    assert "holds no solution" in err


def test_a_file_where_the_results_folder_should_be_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for results in (tmp_path / "file", tmp_path / "file" / "inner"):
        code, _, err = run(capsys, "run", "--model", "builtin/eager", "-p", "019_relu", "--results", str(results))
        assert code == 2
        assert str(tmp_path / "file") in err
        assert len(err.strip().splitlines()) == 1


def test_problems_are_listed_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "problems", "list", "--json", "--level", "1")
    assert code == 0
    assert "level1/019_relu" in [problem["id"] for problem in json.loads(out)]


def test_costs_are_derived_once_and_then_stand_in_the_list(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "level1").mkdir()
    rest = "def get_inputs(): return [torch.rand(250, 4000)]\ndef get_init_inputs(): return []\n"
    (tmp_path / "level1" / "1_Million.py").write_text(RELU + rest)
    code, out, err = run(capsys, "problems", "list", "--suite", str(tmp_path))
    assert (code, out.split()) == (0, ["level1/1_Million"])
    assert "--costs" in err
    assert "derived level1/1_Million" in run(capsys, "problems", "list", "--suite", str(tmp_path), "--costs")[2]
    code, out, err = run(capsys, "problems", "list", "--suite", str(tmp_path), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)[0]["costs"]["as written"]
    assert (found["flops"], found["moved_bytes"], found["operators"]) == (10**6, 8 * 10**6, {"relu": 1})


@pytest.mark.slow
def test_get_inputs_that_raises_is_the_problems_fault_and_exit_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, solution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "level1").mkdir()
    bad = RELU + "def get_inputs(): raise ValueError('no inputs today')\ndef get_init_inputs(): return []\n"
    (tmp_path / "level1" / "1_Bad.py").write_text(bad)
    good = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    Path(solution).write_text(good)
    code, _, err = run(
        capsys, "eval", "--solution", solution, "--problem", "1_Bad", "--suite", str(tmp_path), "--quick"
    )
    assert code == 2
    assert "no inputs today" in err


def test_an_attempt_that_is_not_there_is_told_what_was_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    filled(tmp_path / "r")
    where = ("--results", str(tmp_path))
    assert run(capsys, "show", "r", "2", *where)[2].endswith("did you mean level1/2_a#0?\n")
    assert "name it too" in run(capsys, "show", "r", "--code", *where)[2]
    assert "none of its attempts was an agent's" in run(capsys, "export", "r", "--trajectories", "x", *where)[2]


def test_a_variable_that_nothing_reads_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_MAXCOST", "1")
    code, _, err = run(capsys, "run", "--model", "gpt-5", "-p", "019_relu", "--dry-run")
    assert code == 0
    assert "did you mean KBENCH_MAX_COST?" in err
