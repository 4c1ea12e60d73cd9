"""kbench attack: the exploit suite and the honest controls against this installation."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command(name="attack")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, or cuda:N")
@click.option(
    "--shapes", type=click.Choice(["full", "medium", "small"]), help="by default small on a CPU, medium on a GPU"
)
@click.option(
    "--family", "families", multiple=True, metavar="F", help="T1, c6, k3 and so on; repeatable; without it all"
)
@click.option("--quick", is_flag=True, help="one pair of workers a judging in place of three")
@click.option("--require-sandbox", is_flag=True, help="refuse to run with less than namespaces")
@click.option("--limits", is_flag=True, help="what cannot be closed, in figures; judges nothing")
@click.option("--json", "as_json", is_flag=True)
def command(
    device: str,
    shapes: str | None,
    families: tuple[str, ...],
    quick: bool,
    require_sandbox: bool,
    limits: bool,
    as_json: bool,
) -> int:
    """Judge known cheats and honest controls, and print what became of each.

    Exit 1 where an exploit passes, is refused for a wrong reason, or a control is not found correct.
    """
    if limits:
        return show_limits(as_json)
    from kbench import keys
    from kbench.attack import settings_for
    from kbench.cli.options import device_from
    from kbench.errors import ConfigError
    from kbench.exploits import read_manifest, select, suite_root

    keys.hide()
    device = device_from(device)
    cases = select(read_manifest(suite_root()), device, families)
    if not cases:
        raise ConfigError(f"--family {', '.join(families)}: no case of it runs on {device}")
    shapes = shapes or ("small" if device == "cpu" else "medium")
    settings = settings_for(device, shapes, "quick" if quick else "strict", require_sandbox)
    outcomes, rung = run(settings, cases)
    show(outcomes, settings, rung, as_json)
    return 0 if all(outcome.held for outcome in outcomes) else 1


def run(settings: Any, cases: Any) -> tuple[Any, str]:
    """Every outcome, and the rung of the sandbox in force."""
    from kbench.attack import run_suite
    from kbench.cli.options import warn_of_sandbox
    from kbench.evaluate import Session
    from kbench.report.attack import Progress

    with Session(settings) as session:
        warn_of_sandbox(session.rung)
        progress = Progress(len(cases), lambda line: click.echo(line, err=True))
        return run_suite(session, cases, progress.tell, progress.building), session.rung


def show(outcomes: Any, settings: Any, rung: str, as_json: bool) -> None:
    from kbench.report.attack import as_data, attack_tables
    from kbench.report.console import output

    if as_json:
        click.echo(json.dumps(as_data(outcomes, settings, rung), indent=1))
        return
    console = output()
    for part in attack_tables(outcomes, settings, rung):
        console.print(part)


def show_limits(as_json: bool) -> int:
    from kbench.limits import limits

    found = limits()
    if as_json:
        click.echo(json.dumps([{"limit": limit.title, "figures": list(limit.figures)} for limit in found], indent=1))
        return 0
    for limit in found:
        click.echo(limit.title)
        for figure in limit.figures:
            click.echo(f"  {figure}")
    return 0
