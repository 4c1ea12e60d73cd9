"""kbench problems: what the registry holds, what its problems cost, and what they are worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
@click.option("--device", default="auto", show_default=True, help="whose roofline: auto, cpu, or cuda:N")
@click.option("--precision", default="fp32", show_default=True, help="of that roofline: fp32, tf32, bf16 or fp16")
@click.option(
    "--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True,
    help="where baselines are looked for",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True)
def show(problem_id: str, suite: Path | None, device: str, precision: str, results: Path, as_json: bool) -> None:
    """Source of one problem; on stderr its costs, where it stands under the device's roofline, and known baselines."""
    from dataclasses import asdict

    from kbench import environment, rates, registry
    from kbench.cli.options import device_from
    from kbench.costs import known
    from kbench.errors import ConfigError
    from kbench.known_times import known_times
    from kbench.report.console import output
    from kbench.report.problem import problem_parts
    from kbench.types import Precision

    if precision not in list(Precision):
        raise ConfigError(f"--precision {precision}: give {', '.join(Precision)}")
    problem, device = registry.find(registry.discover(suite), problem_id), device_from(device)
    if not as_json:
        click.echo(problem.source)
    if known(problem) is None:
        derive_all([problem])
    costs, times = known(problem) or {}, list(known_times(results, problem))
    measured = rates.load(environment.cache_folder(), environment.device_key(device))
    if as_json:
        told = {"id": problem.id, "source": problem.source, "costs": plain(costs), "rates": measured}
        click.echo(json.dumps({**told, "baselines": [asdict(one) for one in times]}))
        return
    for part in problem_parts(costs, times, measured, device, precision):
        output(stderr=True).print(part, soft_wrap=True)


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


def told(costs: Any) -> str:
    weights = f", {costs.parameters} parameters" if costs.parameters else ""
    return f"{costs.flops / 1e9:.3g} GFLOP, {costs.moved_bytes / 1e6:.4g} MB{weights}"
