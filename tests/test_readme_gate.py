"""The README's example of a gate is YAML, and what it runs is what the command line takes."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kbench.cli import group
from kbench.gates import parse_rule

README = (Path(__file__).parents[1] / "README.md").read_text()
WORKFLOW = textwrap.dedent(re.search(r"^    jobs:\n(?:^ {6,}.*\n)+", README, re.MULTILINE)[0])  # type: ignore[index]


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(WORKFLOW)["jobs"]["kernels"]["steps"]
    return found


def commands(text: str) -> list[list[str]]:
    """The kbench commands of a shell text."""
    lines = re.sub(r"\$\{\{.*?\}\}", "SHA", text.replace("\\\n", " ")).splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))[:1] == ["kbench"]]


def test_every_step_uses_or_runs_something() -> None:
    assert len(steps()) > 4
    assert all(("uses" in step) != ("run" in step) for step in steps())


def test_the_gates_commands_are_ones_that_kbench_takes() -> None:
    asked = [words for step in steps() for words in commands(step.get("run", ""))]
    assert [words[1] for words in asked] == ["run", "compare"]
    for words in asked:
        command = group.get_command(click.Context(group), words[1])
        assert command is not None
        command.make_context(words[1], words[2:])


@pytest.mark.parametrize("rule", sorted(set(re.findall(r"--fail-on ([^\s\\|`]+)", README))))
def test_every_rule_of_the_readme_is_one(rule: str) -> None:
    assert parse_rule(rule).text == rule
