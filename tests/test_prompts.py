"""What a model is told: whole, without what is held out from it, and the same for the same problem."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kbench import prompts, registry
from kbench.errors import ConfigError
from kbench.extract import extract
from kbench.prompts import LANGUAGES, STYLES, Result, Target, feedback, first_prompt, shown_source
from kbench.types import ErrorFigure, Gate, Mismatch, Precision, Problem, Speedup, Status, Timing, Verdict

PROBLEMS = registry.discover()
SUITE = Problem(
    "level1/1_Square", 1, "p.py", "import torch\nN = 7\nclass Model: pass\ndef get_inputs(): return [N]\n", "0"
)


@pytest.mark.parametrize("problem", [*PROBLEMS, SUITE], ids=lambda p: p.id)
@pytest.mark.parametrize(
    ("device", "language"), [("cpu", "auto"), ("cpu", "triton"), ("cuda:0", "auto"), ("cuda:0", "triton")]
)
def test_a_prompt_holds_the_whole_problem_and_none_of_what_is_held_out(
    problem: Problem, device: str, language: str
) -> None:
    shapes = "small" if device == "cpu" else "full"
    prompt = first_prompt(problem, Target(language, device=device, shapes=shapes))
    assert "class Model" in prompt.user
    assert "def get_inputs" in prompt.user
    for value in problem.shapes.get(shapes, {}).values():
        assert repr(value) in prompt.user
    odd = problem.shapes.get("odd", {})
    assert ", ".join(f"{name}={value!r}" for name, value in odd.items()) not in prompt.user or not odd
    assert '"odd"' not in prompt.user
    assert "SHAPES" not in prompt.user
    assert "{{" not in prompt.user
    assert "{%" not in prompt.user


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.id)
def test_what_is_shown_of_a_problem_still_defines_it(problem: Problem) -> None:
    names = {
        node.name
        for node in ast.parse(shown_source(problem.source)).body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }
    assert {"Model", "get_inputs", "get_init_inputs"} <= names


@pytest.mark.parametrize("style", STYLES)
def test_a_style_has_its_number_of_worked_examples(style: str) -> None:
    prompt = first_prompt(PROBLEMS[0], Target(style=style))
    assert prompt.user.count("an answer is:") == STYLES[style]


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "auto"])
def test_examples_are_whole_solutions_of_the_language(language: str) -> None:
    from kbench.extract import detect_language

    for name in prompts.EXAMPLES:
        text = (prompts.FOLDER / "examples" / language / f"{name}.py.txt").read_text()
        assert extract(f"```python\n{text}```\n", True) == text
        assert detect_language(text) == language


def test_pure_shows_no_example_that_calls_a_library() -> None:
    assert "at::mm" not in first_prompt(PROBLEMS[0], Target(style="few-shot", policy="pure")).user
    assert "at::mm" in first_prompt(PROBLEMS[0], Target(style="few-shot", policy="custom")).user


@pytest.mark.parametrize("policy", ["any", "custom", "pure"])
@pytest.mark.parametrize("precision", list(Precision))
def test_policy_and_precision_change_the_rules(policy: str, precision: Precision) -> None:
    told = {
        first_prompt(PROBLEMS[0], Target(policy=p, precision=q)).user
        for p in ("any", "custom", "pure")
        for q in Precision
    }
    assert len(told) == 3 * len(Precision)
    assert str(precision) in first_prompt(PROBLEMS[0], Target(policy=policy, precision=precision)).user


def test_the_device_is_named() -> None:
    assert "- device: NVIDIA H200" in first_prompt(PROBLEMS[0], Target(hardware={"device": "NVIDIA H200"})).user


def test_cuda_on_a_cpu_is_refused() -> None:
    with pytest.raises(ConfigError, match="--language cpp or triton"):
        Target("cuda", device="cpu")


def test_feedback_shows_the_compilers_error() -> None:
    verdict = Verdict(Status.COMPILE_ERROR, "error: expected ';'", detail="a.cpp:3: error: expected ';'")
    said = feedback(Result(Status.COMPILE_ERROR, verdict.message, verdict))
    assert "a.cpp:3: error: expected ';'" in said
    assert "Mend it." in said


def test_feedback_shows_the_first_wrong_element_and_the_error() -> None:
    wrong = Mismatch("output", (3, 5), 1.25, 0.25, 7, 100)
    figures = (ErrorFigure("relative_l2", 0.5, 1e-7, 4e-7),)
    verdict = Verdict(Status.INCORRECT, "values differ", mismatch=wrong, errors=figures)
    said = feedback(Result(Status.INCORRECT, verdict.message, verdict))
    assert "output[3, 5]: it is 1.25, and should be 0.25" in said
    assert "7 of 100 elements are wrong" in said
    assert "5.00e-01; allowed are 4.00e-07" in said


def test_feedback_shows_the_speedups_and_whether_it_is_the_best() -> None:
    times = {"candidate": 100.0, "eager": 150.0, "compile": 80.0}
    timing = Timing(times, {}, (Speedup("eager", 1.5), Speedup("compile", 0.8)), ())
    verdict = Verdict(Status.CORRECT, "", (Gate("values", True, "yes"),), timing=timing)
    said = feedback(Result(Status.CORRECT, "", verdict, best=True))
    assert "over eager PyTorch is 1.5" in said
    assert "over torch.compile is 0.8" in said
    assert "the fastest correct version so far" in said
    assert "Mend it." not in said


@pytest.mark.parametrize("status", list(Status))
def test_there_are_words_for_every_status(status: Status) -> None:
    said = feedback(Result(status, "the message", None, "the note"))
    assert "exactly one fenced" in said
    assert "{{" not in said


def test_a_long_compiler_message_is_cut_in_the_middle() -> None:
    verdict = Verdict(Status.COMPILE_ERROR, "x", detail="first\n" + "x" * 10**6 + "\nlast")
    said = feedback(Result(Status.COMPILE_ERROR, "x", verdict))
    assert "first" in said
    assert "last" in said
    assert len(said) < 6000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "device"),
    [
        ("cpp", "cpu"),
        ("triton", "cpu"),
        *(pytest.param(name, "cuda", marks=pytest.mark.gpu) for name in ("cuda", "triton")),
    ],
)
def test_worked_examples_give_what_their_references_give(language: str, device: str, tmp_path: Path) -> None:
    if device == "cuda" and shutil.which("nvidia-smi") is None:
        pytest.skip("no CUDA device")
    environ = {**os.environ, "TRITON_INTERPRET": "1" if device == "cpu" else "0", "TORCH_EXTENSIONS_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.example_check", language, device]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert len(done.stdout.splitlines()) == 2 * len(prompts.EXAMPLES)
