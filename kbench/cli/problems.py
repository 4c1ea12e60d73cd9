"""kbench problems: what the registry holds, what its problems cost, and what they are worth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
@click.option(
    "--costs", "derived", is_flag=True, help="derive flops, bytes and parameters where they are not known yet"
)
@click.option("--json", "as_json", is_flag=True)
def list_problems(suite: Path | None, level: str | None, derived: bool, as_json: bool) -> None:
    """Ids of all problems, one a line, and what is known of a call's costs in the largest shape."""
    from kbench import registry
    from kbench.costs import known

    levels = registry.parse_levels(level) if level else None
    problems = registry.select(registry.discover(suite), levels)
    if derived:
        derive_all(problems)
    costs = {problem.id: known(problem) for problem in problems}
    unknown = sum(found is None for found in costs.values())
    if unknown:
        click.echo(f"kbench: costs of {unknown} problems are not known yet; --costs derives them", err=True)
    if as_json:
        keys = ("id", "level", "content_hash", "inputs", "spec")
        rows = [{key: getattr(problem, key) for key in keys} for problem in problems]
        click.echo(json.dumps([{**row, "costs": plain(costs[row["id"]])} for row in rows]))
        return
    width = max(len(problem.id) for problem in problems)
    for problem in problems:
        first = next(iter((costs[problem.id] or {}).values()), None)
        click.echo(f"{problem.id:<{width}}  {told(first)}" if first is not None else problem.id)


@command.command(name="show")
@click.argument("problem_id")
@click.option("--suite", type=click.Path(path_type=Path))
def show(problem_id: str, suite: Path | None) -> None:
    """Source of one problem; on stderr what is known of its costs."""
    from kbench import registry
    from kbench.costs import known

    problem = registry.find(registry.discover(suite), problem_id)
    click.echo(problem.source)
    for line in cost_lines(known(problem) or {}):
        click.echo(line, err=True)


def derive_all(problems: Sequence[Any]) -> None:
    from kbench import keys
    from kbench.costs import derive
    from kbench.evaluate import Session, Settings

    keys.hide()
    with Session(Settings()) as session:
        derive(problems, session, lambda problem: click.echo(f"derived {problem.id}", err=True))


def plain(found: Any) -> Any:
    """Costs by shape as JSON; null where they are not known or cannot be derived."""
    from dataclasses import asdict

    if found is None:
        return None
    return {shape: asdict(costs) if costs is not None else None for shape, costs in found.items()}


def cost_lines(found: dict[str, Any]) -> Iterator[str]:
    for shape, costs in found.items():
        if costs is None:
            yield f"{shape}: cannot be derived on the meta device"
            continue
        operators = ", ".join(f"{n} {name}" for name, n in costs.operators.items())
        yield f"{shape}: {told(costs)}; largest tensor {costs.peak_bytes / 1e6:.3g} MB; {operators}"


def told(costs: Any) -> str:
    weights = f", {costs.parameters} parameters" if costs.parameters else ""
    return f"{costs.flops / 1e9:.3g} GFLOP, {costs.moved_bytes / 1e6:.4g} MB{weights}"
