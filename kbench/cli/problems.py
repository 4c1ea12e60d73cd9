"""kbench problems: what the registry holds, and what its problems are worth."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kbench.cli.check import command as check


@click.group(name="problems")
def command() -> None:
    """The registry: list, show and check problems, kbench's own or a suite's."""


command.add_command(check)


@command.command(name="list")
@click.option(
    "--suite", type=click.Path(path_type=Path), help="a KernelBench checkout in place of kbench's own problems"
)
@click.option("--level", help="1, 1,2 or 1-3")
@click.option("--json", "as_json", is_flag=True)
def list_problems(suite: Path | None, level: str | None, as_json: bool) -> None:
    """Ids of all problems, one a line."""
    from kbench import registry

    levels = registry.parse_levels(level) if level else None
    problems = registry.select(registry.discover(suite), levels)
    if as_json:
        keys = ("id", "level", "content_hash", "inputs", "spec")
        click.echo(json.dumps([{key: getattr(problem, key) for key in keys} for problem in problems]))
        return
    for problem in problems:
        click.echo(problem.id)


@command.command(name="show")
@click.argument("problem_id")
@click.option("--suite", type=click.Path(path_type=Path))
def show(problem_id: str, suite: Path | None) -> None:
    """Source of one problem."""
    from kbench import registry

    click.echo(registry.find(registry.discover(suite), problem_id).source)
