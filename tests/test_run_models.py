"""kbench run and generate against the test server, as a person types them: errors, secrets, dry runs, judged kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbench import keys
from kbench.cli import main

from .fake_provider import KEY, Answer, FakeProvider, fenced, shipped
from .making import EIGHT

CODE = "class ModelNew:\n    pass\n"
MODELS = ("anthropic/claude-opus-4-8", "google/gemini-2.5-pro", "openai/gpt-5", "local/stub")
PROGRAM = [sys.executable, "-c", "import sys; from kbench.cli import main; main(sys.argv[1:])"]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeProvider]:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    with FakeProvider(lambda _: Answer(fenced(CODE))) as started:
        for name, value in started.environment().items():
            monkeypatch.setenv(name, value)
        yield started


def kbench(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out = capsys.readouterr()
    return int(ended.value.code or 0), out.out, out.err


def arguments_for(model: str, fake: FakeProvider, tmp_path: Path, *more: str) -> list[str]:
    url = ["--base-url", f"{fake.url}/v1"] if model.startswith("local") else []
    return ["--model", model, *url, "--results", str(tmp_path / "results"), *more]


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "generate"])
@pytest.mark.parametrize("model", MODELS)
def test_a_server_that_is_not_there_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, model: str, command: str
) -> None:
    arguments = ["--model", model, "--base-url", "http://127.0.0.1:9/v1", "--results", str(tmp_path / "results")]
    code, _, err = kbench(capsys, command, *arguments)
    assert code == 2
    assert "cannot be reached" in err
    assert len(err.strip().splitlines()) == 1, err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("model", ["anthropic/nobody", "google/nobody", "openai/nobody", "local/nobody"])
def test_a_model_that_is_not_there_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, model: str
) -> None:
    code, _, err = kbench(capsys, "run", *arguments_for(model, fake, tmp_path))
    assert code == 2
    assert "no such model" in err
    assert "stub" in err
    assert len(err.strip().splitlines()) == 1, err


@pytest.mark.parametrize("model", MODELS[:3])
@pytest.mark.parametrize(("key", "says"), [("", "is not set"), ("wrong-key-9876543210", "is not accepted")])
def test_a_missing_or_wrong_key_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str],
    fake: FakeProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    key: str,
    says: str,
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, key)
    code, _, err = kbench(capsys, "run", *arguments_for(model, fake, tmp_path))
    assert code == 2
    assert f"_API_KEY {says}" in err
    assert "9876543210" not in err
    assert len(err.strip().splitlines()) == 1, err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--max-cost", "1"], "--max-cost cannot be enforced"),
        (["--max-time", "soon"], "--max-time 'soon'"),
        (["-M", "temprature=1"], "temprature"),
        (["--base-url", "localhost:8000"], "http://"),
        (["--language", "cuda"], "--language cuda"),
    ],
)
def test_flags_that_cannot_be_are_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, more: list[str], says: str
) -> None:
    code, _, err = kbench(capsys, "generate", *arguments_for("local/stub", fake, tmp_path), *more)
    assert code == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err


def test_a_setting_that_the_model_does_not_take_is_told(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path
) -> None:
    arguments = arguments_for("gpt-5", fake, tmp_path, "--temperature", "0.5", "-p", "019_relu")
    code, _, err = kbench(capsys, "generate", *arguments)
    assert code == 0
    assert "openai/gpt-5 takes no temperature" in err


# ---- generate and dry runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_generate_stores_what_eval_judges(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, model: str
) -> None:
    arguments = arguments_for(model, fake, tmp_path, *EIGHT, "--samples", "2", "--run-id", "g", "--json")
    code, out, _ = kbench(capsys, "generate", *arguments)
    told = json.loads(out)
    assert code == 0
    assert told["missing"] == 0
    assert told["attempts"] == len(fake.asked) == 16
    place = tmp_path / "results" / "g" / "artifacts" / "level1" / "003_batched_matmul" / "1"
    assert (place / "reply.0.txt").read_text() == fenced(CODE)
    assert "level1/003_batched_matmul" in (place / "prompt.0.txt").read_text()


def test_generate_says_what_is_missing_and_exits_three(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path
) -> None:
    more = (*EIGHT, "--max-cost", "0.2", "--max-tokens", "4000", "--connections", "1")
    code, _, err = kbench(capsys, "generate", *arguments_for("claude-opus-4-8", fake, tmp_path, *more))
    assert code == 3
    assert "--max-cost 0.2" in err
    assert 0 < len(fake.asked) < 8


def test_a_dry_run_prints_the_prompt_that_would_be_sent_and_sends_nothing(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(
        "claude-opus-4-8", fake, tmp_path, "-p", "019_relu", "--max-tokens", "1000", "--samples", "3"
    )
    kbench(capsys, "generate", *arguments)
    (asked, *_) = fake.asked
    count = len(fake.asked)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    code, out, _ = kbench(capsys, "run", *arguments, "--dry-run")
    assert code == 0
    assert asked.body["system"] in out
    assert asked.body["messages"][0]["content"] in out
    assert "requests: up to 3" in out
    prompt = len((asked.body["system"] + asked.body["messages"][0]["content"]).encode())
    least = 3 * (prompt * 5e-6 + 1000 * 25e-6)  # dollars, from the price list of 2026-11
    told = float(out.partition("worst-case cost: $")[2].partition(",")[0])
    assert least <= told <= 1.2 * least + 0.01
    code, out, _ = kbench(capsys, "run", *arguments, "--dry-run", "--json")
    found = json.loads(out)
    assert (found["requests"], found["prompts"]["level1/019_relu"]["system"]) == (3, asked.body["system"])
    code, out, _ = kbench(capsys, "run", *arguments, "--dry-run", "--agent")
    assert "in 600 turns, each with a full context: $" in out
    assert len(fake.asked) == count


def test_the_limit_that_a_budget_asks_for_is_enough_and_the_dry_run_tells_the_same(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for("claude-opus-4-8", fake, tmp_path, "-p", "019_relu", "--max-tokens", "1000")
    told = kbench(capsys, "generate", *arguments, "--dry-run")[1]
    code, _, err = kbench(capsys, "generate", *arguments, "--max-cost", "0.0001")
    assert code == 3
    least = re.search(r"--max-cost (\d+\.\d+) or more lets it go on", err)
    assert least is not None
    assert f"at most ${least[1]} a request" in told
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)  # the first call took it out of the environment
    assert kbench(capsys, "generate", *arguments, "--max-cost", least[1])[0] == 0


def test_kernels_for_a_gpu_that_is_not_here_are_asked_for_with_its_sizes_and_languages(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path
) -> None:
    more = ("-p", "001_square_matmul", "--hardware", "NVIDIA H200", "--run-id", "g")
    arguments = arguments_for("claude-opus-4-8", fake, tmp_path, *more)
    code, _, _ = kbench(capsys, "generate", *arguments)
    assert code == 0
    (asked,) = fake.asked
    prompt = asked.body["messages"][0]["content"]
    for words in ("device: NVIDIA H200", "CUDA C++", "size=8192"):
        assert words in prompt
    assert "no GPU here" not in prompt
    stored = json.loads((tmp_path / "results" / "g" / "run.json").read_text())
    assert stored["config"]["device"] == "cuda:0"
    assert "model" not in stored["environment"]  # what it will be judged on is not known here


def test_run_judges_here_and_so_knows_its_device(
    capsys: pytest.CaptureFixture[str], fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbench.environment.best_device", lambda: "cpu")
    more = ("-p", "001_square_matmul", "--hardware", "NVIDIA H200")
    code, _, err = kbench(capsys, "run", *arguments_for("claude-opus-4-8", fake, tmp_path, *more))
    assert code == 2
    assert "kbench generate needs none" in err
    assert not fake.asked


# ---- secrets ---------------------------------------------------------------------------------------------------------


def test_hidden_keys_leave_the_environment_and_every_error_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in keys.NAMES:
        monkeypatch.setenv(name, f"planted-{name}-0001")
    keys.hide()
    assert not [value for value in os.environ.values() if value.startswith("planted-")]
    assert keys.without("sent planted-OPENAI_API_KEY-0001 to") == "sent [key] to"


def test_a_hidden_key_can_be_read_nowhere_in_proc() -> None:
    script = """
from pathlib import Path
from kbench import keys
keys.hide()
for pid in ("self", "thread-self"):
    assert b"planted" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert b"ANTHROPIC" in Path(f"/proc/{pid}/environ").read_bytes()
assert keys.left_out({"OPENAI_API_KEY": "x", "HOME": "y"}) == {"HOME": "y"}
"""
    environ = {**os.environ, "ANTHROPIC_API_KEY": "planted-anthropic", "OPENAI_API_KEY": "planted-openai"}
    subprocess.run([sys.executable, "-c", script], env=environ, check=True)


def written(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


def environments_below(pid: int) -> list[bytes]:
    """The environments of every process that `pid` started, as far as they can be read."""
    found, parents = [], {pid}
    for entry in sorted(Path("/proc").glob("[0-9]*"), key=lambda p: int(p.name)):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in parents:
                parents.add(int(entry.name))
                found.append((entry / "environ").read_bytes())
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_a_run_ends_in_judged_kernels_and_no_key_is_left_anywhere(tmp_path: Path) -> None:
    faults = {0: "429", 2: "reset"}
    with FakeProvider(shipped, fault_of=lambda n: faults.get(n, "")) as fake:
        environ = {**os.environ, **fake.environment(), "KBENCH_CACHE": str(tmp_path / "cache"), "GOOGLE_API_KEY": KEY}
        more = ("--level", "1", "-p", "019_relu", "-p", "051_argmax", "--quick", "--policy", "any", "--run-id", "r")
        arguments = arguments_for(
            "anthropic/claude-opus-4-8", fake, tmp_path, *more, "--display", "plain", "--baseline", "eager"
        )
        process = subprocess.Popen(
            [*PROGRAM, "run", *arguments], env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        seen: list[bytes] = []
        watching = threading.Thread(target=lambda: [seen.extend(environments_below(process.pid)) or time.sleep(0.1)
                                                    for _ in iter(process.poll, 0)])  # fmt: skip
        watching.start()
        out, _ = process.communicate(timeout=400)
        watching.join(10)
    assert process.returncode == 0, out.decode()
    assert len(seen) > 10
    assert not [environment for environment in seen if KEY.encode() in environment]
    assert KEY.encode() not in out
    files = dict(written(tmp_path))
    assert not [path for path, data in files.items() if KEY.encode() in data]
    records = [json.loads(line) for line in files[tmp_path / "results" / "r" / "attempts.jsonl"].splitlines()]
    assert [record["status"] for record in records] == ["correct"] * 2
    assert all(record["reply"]["cost_usd"] > 0 for record in records)


def test_a_server_that_lists_no_models_is_asked_once_before_anything_is_started(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    refused = Answer(status=404, code="", message="no such path")
    with FakeProvider(lambda _: refused, models=()) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        code, _, err = kbench(capsys, "run", *arguments_for("local/stub", fake, tmp_path, "--level", "1"))
    assert code == 2
    assert "no such model or path" in err
    assert len(fake.asked) == 1
