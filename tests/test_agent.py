"""Whole episodes against a scripted server, through the real SDKs and the real referee on the CPU device."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbench.agent.trajectory import whole_events
from kbench.cli import main
from kbench.store import load
from kbench.types import Record, Status

from .agent_script import RIGHT, SLOW, WRONG, bash, call, says, script, write
from .fake_provider import KEY, Answer, FakeProvider

Play = Callable[..., Record]
DONE = Answer("That is it.")
DAEMON_S = f"1000.{os.getpid()}"  # as long as no other process sleeps


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def play(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Runs one episode of ReLU against a script; its record, from the disk."""
    monkeypatch.setenv("KBENCH_CACHE", str(cache))

    ports = [0]  # a run that goes on asks the same address

    def run(answer: Callable[[str], Answer], *more: str, exit_code: int = 0) -> Record:
        with FakeProvider(answer, port=ports[-1]) as fake:
            ports.append(int(fake.url.rpartition(":")[2]))
            hosted = "--model" in more and more[more.index("--model") + 1].startswith(("anthropic/", "google/"))
            arguments = ["run", "--model", "local/stub", "--base-url", fake.url if hosted else f"{fake.url}/v1"]
            arguments += ["--agent", "--quick"]
            arguments += ["--baseline", "eager", "--policy", "any", "-p", "019_relu", "--results", str(tmp_path)]
            with pytest.raises(SystemExit) as ended:
                main([*arguments, "--run-id", "r", "--display", "none", *more])
        assert ended.value.code == exit_code
        return load(tmp_path / "r").records[-1]

    return run


def test_a_program_of_any_kind_works_in_the_folder_without_a_network_and_what_it_leaves_is_judged(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "a-key-of-the-users")
    monkeypatch.setenv("MY_OWN", "passed on")
    preset = tmp_path / "mine.toml"
    preset.write_text(
        """program = "sh"
command = 'head -1 {task}; echo "$MY_OWN {model} $LOCAL_API_KEY."; echo "def" > model_new.py; ls -d /sys/class/net/* 2>&1; exit 7'
pass = ["MY_OWN"]
"""
    )
    record = play(script(DONE), "--model", f"agent/{preset}@some/model")
    facts = record.agent
    assert facts is not None
    assert record.status is Status.COMPILE_ERROR
    assert (facts.stop_reason, facts.network, facts.reward) == ("exit 7", "none", -1)
    assert [s.kind for s in facts.snapshots] == ["final"]
    (told,) = [event["text"] for event in events(tmp_path) if event["event"] == "program"]
    assert told.startswith("# Task: a faster `019_relu`")
    assert "passed on some/model ." in told


def events(folder: Path) -> list[dict[str, Any]]:
    return whole_events(folder / "r" / "artifacts" / "level1" / "019_relu" / "0" / "trajectory.jsonl")


def texts(folder: Path) -> list[str]:
    return [event["text"] for event in events(folder) if event["event"] == "result"]


@pytest.mark.slow
def test_a_wrong_kernel_is_read_mended_profiled_and_improved_and_the_best_is_timed_again(
    play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = play(
        script(
            says(call("Bash", command="cat model.py"), call("Glob", pattern="*.py")),
            write(WRONG, call("compile"), call("verify")),
            lambda prompt: write(SLOW if "[FAIL] incorrect" in prompt else WRONG, call("profile")),
            write(RIGHT, call("profile")),
            write(WRONG),
            DONE,
        )
    )
    facts = record.agent
    assert facts is not None
    assert record.status is Status.CORRECT
    assert (facts.stop_reason, facts.turns, facts.malformed_calls) == ("done", 6, 0)
    told = [(s.kind, s.turn, str(s.status)) for s in facts.snapshots]
    assert told == [("verify", 2, "incorrect"), ("profile", 3, "correct"), ("profile", 4, "correct")]
    assert facts.final == 0  # it left the wrong one, which was judged in turn 2
    assert facts.chosen is not None
    best = facts.snapshots[facts.chosen]
    assert best.speedups["eager"] == max(
        s.speedups["eager"] for s in facts.snapshots if s.speedups and s.status == "correct"
    )
    assert record.solution_hash == best.solution_hash
    assert record.reply is not None
    assert record.reply.tokens_input == 6 * 900
    assert [s.tokens for s in facts.snapshots] == [2 * 1300, 3 * 1300, 4 * 1300]
    assert facts.reward in (1, 2)
    assert (facts.tool_calls["verify"], facts.tool_calls["profile"]) == (1, 2)
    show_and_export(tmp_path, capsys)
    seen = texts(tmp_path)
    assert "class Model" in seen[0]
    assert "Compile success" in seen[4]
    assert any(text.startswith("Torch Baseline: ") and "CUDA Extension: " in text for text in seen)


def show_and_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That the commands that read an episode give it back."""
    capsys.readouterr()
    for arguments in (
        ["show", "r", "019_relu", "--trajectory"], ["show", "r", "019_relu", "--turn", "4"],
        ["export", "r", "--trajectories", str(folder / "all.jsonl")],
        ["export", "r", "--trajectories", str(folder / "none.jsonl"), "--min-reward", "3"],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--results", str(folder)])
        assert ended.value.code == 0
    out = capsys.readouterr().out
    assert out.count("---- turn 4 ----") == 2
    assert out.count("---- turn 3 ----") == 1
    assert "best in trajectory" in out
    assert "---- end: done ----" in out
    (line,) = (folder / "all.jsonl").read_text().splitlines()
    roles = [message["role"] for message in json.loads(line)["messages"]]
    assert roles[:5] == ["system", "user", "assistant", "tool", "tool"]
    assert roles[-1] == "assistant"
    assert (folder / "none.jsonl").read_text() == ""  # only eager was timed, so 3 is out of reach


@pytest.mark.slow
def test_hostile_episodes_end_as_they_should(play: Play, tmp_path: Path) -> None:
    forged = "echo 'print(\"[PASS] verify success\")' > utils/verification.py; python3 -m utils.verification"
    record = play(
        script(
            write(WRONG),
            bash(forged),
            bash("cat /etc/shadow; ls /opt /root /home; env"),
            bash("python3 -c \"import socket; socket.create_connection(('127.0.0.1', 22), 1)\""),
            bash(
                f"(setsid nohup sh -c 'echo $$ > pid; exec sleep {DAEMON_S}' >/dev/null 2>&1 &) ; sleep 0.5; "
                "kill -0 $(cat pid) && echo alive"
            ),
            bash("head -c 700M /dev/zero > filler; ls -la filler; rm filler"),
            bash("for i in $(seq 2000); do sleep 100 & done; echo forked"),
            bash("kill -9 -1; echo still"),
            says(call("verify")),
            says(text="I cannot help with this request."),
        ),
        "--command-time", "8",
    )  # fmt: skip
    facts = record.agent
    assert facts is not None
    assert record.status is Status.REFUSED
    assert facts.stop_reason == "refused"
    assert facts.turns == 10
    assert [s.status for s in facts.snapshots] == [Status.INCORRECT]
    assert facts.snapshots[0].changed == ("utils/verification.py",)
    assert facts.reward == -1
    seen = texts(tmp_path)
    assert "[PASS] verify success" in seen[2]  # its own print, and no more than that
    assert "root:x:" not in seen[3]
    assert "API_KEY" not in seen[3]
    assert "refused" in seen[4] or "unreachable" in seen[4] or "Error" in seen[4]
    assert "alive" in seen[5]
    assert "No space left" in seen[6] or "File too large" in seen[6] or "limit exceeded" in seen[6]
    assert "it is started again, with the files" in seen[8]
    assert "[FAIL] incorrect" in seen[9]
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if DAEMON_S in _command_line(path)]


def _command_line(path: Path) -> str:
    """Of a process that may have ended since."""
    with contextlib.suppress(OSError):
        return path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def test_malformed_calls_are_answered_and_counted_and_a_loop_ends_at_the_last_turn(play: Play, tmp_path: Path) -> None:
    record = play(
        script(
            Answer(calls=(("Bash", '{"command": "ls'), ("Nothing", "{}"), call("Read"), call("Read", file_path=3))),
            Answer("cut", stop="length"),
            bash("echo again"),
        ),
        "--max-turns", "5",
    )  # fmt: skip
    facts = record.agent
    assert facts is not None
    assert (record.status, facts.stop_reason, facts.turns) == (Status.NO_CODE, "turns", 5)
    assert facts.malformed_calls == 4
    seen = texts(tmp_path)
    assert "not JSON" in seen[0]
    assert "no tool 'Nothing'" in seen[1]
    assert "needs 'file_path'" in seen[2]
    assert seen[-1] == "again"
    assert any("cut off" in event["text"] for event in events(tmp_path) if event["event"] == "note")


@pytest.mark.parametrize(
    "model", ["anthropic/claude-opus-4-8", "google/gemini-2.5-pro", "openai/gpt-5", "openai/gpt-4o"]
)
def test_a_whole_episode_goes_through_every_sdk(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    record = play(
        script(
            says(call("Bash", command="echo $((6 * 7))"), call("Glob", pattern="model*.py"), thinking="I look first."),
            write("def", call("verify")),
            lambda prompt: says(call("Bash", command="cat model_new.py") if "[FAIL]" in prompt else call("verify")),
            DONE,
        ),
        "--model", model,
    )  # fmt: skip
    assert record.agent is not None
    assert (record.status, record.agent.stop_reason, record.agent.turns) == (Status.COMPILE_ERROR, "done", 4)
    assert [(s.kind, s.turn) for s in record.agent.snapshots] == [("verify", 2)]
    seen = texts(tmp_path)
    assert (seen[0], "model.py" in seen[1], seen[-1]) == ("42", True, "def")
    assert record.reply is not None
    assert record.reply.tokens_input == 4 * 900


def test_an_episode_ends_where_its_context_is_full_and_tools_may_have_other_names(play: Play, tmp_path: Path) -> None:
    names = tmp_path / "tools.toml"
    names.write_text('[Bash]\nname = "execute_bash"\narguments = {command = "cmd"}\n[Grep]\nenabled = false\n')
    record = play(
        script(Answer(calls=(call("execute_bash", cmd="echo hello"), call("Grep", pattern="x")))),
        "--context", "1000", "--tools", str(names),
    )  # fmt: skip
    assert record.agent is not None
    assert record.agent.stop_reason == "context"
    seen = texts(tmp_path)
    assert seen[0] == "hello"
    assert "no tool 'Grep'" in seen[1]


def test_a_server_that_goes_away_is_waited_for_and_a_killed_episode_goes_on_with_its_folder(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbench.agent.episodes.PATIENCE_S", (0.01, 0.01))
    steps = (
        bash("echo kept > notes.md"),
        bash("cat notes.md; echo more >> notes.md"),
        Answer(status=503, message="away"),
    )
    record = play(script(*steps), "-M", "retries=0", exit_code=3)
    assert record.status is Status.INFRA_ERROR
    path = tmp_path / "r" / "artifacts" / "level1" / "019_relu" / "0" / "trajectory.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = max(number for number, line in enumerate(lines) if b'"event":"result"' in line)
    path.write_bytes(b"".join(lines[:at]) + lines[at][:20])  # as a kill amid the second turn's last write leaves it
    record = play(script(*steps[:2], bash("cat notes.md"), DONE), "-M", "retries=0")
    assert record.agent is not None
    assert (record.agent.stop_reason, record.agent.turns) == ("done", 4)
    assert texts(tmp_path)[0] == "(no output)"
    assert texts(tmp_path)[1] == "kept\nmore" or texts(tmp_path)[1] == "kept"
    assert texts(tmp_path)[2].splitlines()[:2] == ["kept", "more"]
    assert len([event for event in events(tmp_path) if event["event"] == "reply"]) == 4
    assert json.loads(path.read_bytes().splitlines()[-1])["event"] == "end"
