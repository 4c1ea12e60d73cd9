"""kbench compare as a person and as a CI server meet it: exit codes, text, Markdown, JUnit, GitHub's files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kbench.cli import main
from kbench.files import json_text, write_atomic
from kbench.store import to_line
from kbench.types import Record, Status

from .making import info, record, verdict

HOSTILE = "no\n::error title=x::owned\n</details><img src=x onerror=alert(1)> [a](javascript:b) | `c`"


def stored(folder: Path, run_id: str, records: list[Record], **more: Any) -> Path:
    """A run folder as a run leaves it."""
    problems = {r.problem_id: "hash" for r in records}
    write_atomic(folder / run_id / "run.json", json_text(info(run_id=run_id, problems=problems, **more)))
    write_atomic(folder / run_id / "attempts.jsonl", b"".join(to_line(r) for r in records))
    return folder / run_id


def records(failing: tuple[int, ...] = (), speed: float = 1.5, count: int = 40) -> list[Record]:
    wrong = verdict(Status.INCORRECT)
    return [
        record(f"level1/{i}_p", Status.INCORRECT, verdict=type(wrong)(Status.INCORRECT, HOSTILE, wrong.gates))
        if i in failing
        else record(f"level1/{i}_p", eager=speed, compiled=speed)
        for i in range(1, count + 1)
    ]


def compare(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["compare", "base", "new", "--results", str(folder), *arguments])
    out = capsys.readouterr()
    code = ended.value.code
    assert isinstance(code, int)
    return code, out.out, out.err


@pytest.fixture(autouse=True)
def no_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def test_equal_runs_pass_and_the_power_is_stated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records())
    code, out, _ = compare(capsys, tmp_path, "--fail-on", "pass_rate:-2%", "--fail-on", "any-new-failure")
    assert code == 0
    # McNemar's score test at 99 %: seven losses of forty reach z = 2.65, six reach 2.45.
    assert "a gate at 99% would see a drop of pass rate by 17.5 points" in out
    assert "ok: pass_rate:-2%: pass_rate is unchanged" in out


def test_a_fired_rule_is_exit_one_and_a_sentence_with_the_problems(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records(failing=(1, 2, 3, 4, 5, 6, 7, 8)))
    code, out, _ = compare(capsys, tmp_path, "--fail-on", "pass_rate:-2%")
    assert code == 1
    [line] = [line for line in out.splitlines() if line.startswith("FAIL")]
    assert "pass_rate fell by 20.0 points, from 100.0% to 80.0%; 99% interval" in line
    assert "Newly failing: level1/1_p, level1/2_p" in line


def test_missing_attempts_leave_a_gate_open(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records())
    all_asked = {r.problem_id: "hash" for r in records()}
    write_atomic(tmp_path / "new" / "run.json", json_text(info(run_id="new", problems=all_asked)))
    write_atomic(tmp_path / "new" / "attempts.jsonl", b"".join(to_line(r) for r in records()[:-2]))
    code, out, _ = compare(capsys, tmp_path, "--fail-on", "pass_rate:-2%")
    assert code == 3
    assert "2 have no scored partner: level1/39_p#0, level1/40_p#0" in out


def test_without_a_rule_whatever_changed_is_exit_zero(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records(failing=tuple(range(1, 30))))
    assert compare(capsys, tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fail-on", "speed:-1%"], "pass_rate"),
        (["--fail-on", "pass_rate:-200%"], "nothing falls by so much"),
        (["--results", "nowhere"], "no run 'base'"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], says: str
) -> None:
    stored(tmp_path, "base", records(count=2))
    stored(tmp_path, "new", records(count=2))
    code, _, err = compare(capsys, tmp_path, *arguments)
    assert code == 2
    assert says in err
    assert len(err.splitlines()) == 1


def test_runs_of_different_precision_are_exit_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records(count=2))
    stored(tmp_path, "new", records(count=2), config={"model": "m", "precision": "bf16"})
    code, _, err = compare(capsys, tmp_path)
    assert code == 2
    assert "precision ? against bf16" in err


def test_json_holds_every_change_and_ruling(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records(speed=1.2))
    code, out, _ = compare(capsys, tmp_path, "--json", "--fail-on", "geomean_vs_compile:-3%")
    value = json.loads(out)
    assert code == 1
    changes = {(c["metric"], c["scope"]): c["change"] for c in value["comparison"]["changes"]}
    assert changes["geomean_vs_compile", "overall"] == pytest.approx(-0.2)
    assert [ruling["fired"] for ruling in value["rulings"]] == [True]


def test_junit_has_a_case_a_rule_and_a_problem_and_agrees_with_the_exit_code(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records(failing=(3,)))
    path = tmp_path / "out.xml"
    assert compare(capsys, tmp_path, "--junit", str(path), "--fail-on", "pass_rate:-2%")[0] == 0
    suite = ElementTree.parse(path).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("41", "0")
    assert compare(capsys, tmp_path, "--junit", str(path), "--fail-on", "any-new-failure")[0] == 1
    suite = ElementTree.parse(path).getroot()[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["any-new-failure", "3_p"]


def test_junit_survives_what_a_candidate_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stored(tmp_path, "base", records(count=3))
    odd = verdict(Status.RUNTIME_ERROR)
    odd = type(odd)(odd.status, "\x00\x1b[1m\ufffe ]]> & <b> \ud800", odd.gates)
    new = [*records(count=2), record("level1/3_p", Status.RUNTIME_ERROR, verdict=odd)]
    stored(tmp_path, "new", new)
    path = tmp_path / "out.xml"
    compare(capsys, tmp_path, "--junit", str(path))
    texts = [case.findtext("system-out") or "" for case in ElementTree.parse(path).getroot()[0]]
    assert any("]]> & <b>" in text for text in texts)


def test_on_github_the_summary_is_written_and_a_candidates_words_stay_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    stored(tmp_path, "base", records())
    stored(tmp_path, "new", records(failing=(5,)))
    code, out, _ = compare(capsys, tmp_path, "--fail-on", "any-new-failure")
    assert code == 1
    commands = [line for line in out.splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::notice"]
    summary = (tmp_path / "summary.md").read_text()
    assert "| pass rate | 100.0% | 97.5% |" in summary
    assert "<img" not in summary
    assert "](javascript" not in summary
    assert summary.count("</details>") == summary.count("<details>")


@pytest.mark.parametrize("name", ["attempts.jsonl", "summary.json"])
@pytest.mark.parametrize("command", ["verify", "compare", "leaderboard"])
def test_a_pipe_in_the_place_of_a_file_is_told_and_hangs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, command: str
) -> None:
    whole = stored(tmp_path, "whole", records(count=3))
    folder = stored(tmp_path, "run", records(count=3))
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    arguments = [str(folder), str(whole)] if command == "compare" else [str(folder)]
    with pytest.raises(SystemExit) as ended:
        main([command, *arguments])
    out, err = capsys.readouterr()
    if name != "summary.json":
        assert ended.value.code == 2
        assert f"{name}: is no plain file" in err
    assert "Traceback" not in out + err


def test_two_runs_without_a_common_attempt_pass_no_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, new = stored(tmp_path, "base", records(count=3)), stored(tmp_path, "new", records(count=3))
    for folder in (base, new):
        (folder / "attempts.jsonl").write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(base), str(new), "--fail-on", "any-new-failure"])
    assert ended.value.code == 3
    assert "cannot be answered" in capsys.readouterr().out


def test_an_interval_without_an_end_is_no_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    halved = [records(count=1)[0], record("level1/2_p", eager=0.75, compiled=1.5)]
    base, new = stored(tmp_path, "base", records(count=2)), stored(tmp_path, "new", halved)
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(base), str(new), "--fail-on", "geomean_vs_eager:-3%", "--gate-confidence", "0.9999"])
    assert ended.value.code == 0
    assert "99.99% interval" in capsys.readouterr().out


def test_of_two_runs_with_one_name_the_folders_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = stored(tmp_path, "base", records(count=2))
    copy = shutil.copytree(base, tmp_path / "copy")
    with pytest.raises(SystemExit):
        main(["compare", str(base), str(copy), "--json"])
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert (found["base"], found["new"]) == (str(base), str(copy))
