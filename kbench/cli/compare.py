"""kbench compare: two runs of the same problems, and a gate on what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import Number

EXIT_GATE, EXIT_INCOMPLETE = 1, 3


@click.command(name="compare")
@click.argument("base")
@click.argument("new")
@click.option(
    "--fail-on",
    "rules",
    multiple=True,
    metavar="RULE",
    help="pass_rate:-2%, or faster_, geomean_vs_ and penalised_vs_ with eager or compile (geomean_vs_compile:-3%), or "
    "any-new-failure; repeatable; fires where the drop reaches that size and its interval lies below zero, with :point on the size alone",
)
@click.option(
    "--gate-confidence",
    type=Number(0.5, 0.9999),
    default=0.99,
    show_default=True,
    help="level of the intervals that decide the gate",
)
@click.option("--allow-different-device", is_flag=True, help="compare across devices; the result says so")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path, dir_okay=False), help="write JUnit XML")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="everything as JSON on stdout")
def command(base: str, new: str, rules: tuple[str, ...], gate_confidence: float, allow_different_device: bool,
            junit_file: Path | None, results: Path, as_json: bool) -> int:  # fmt: skip
    """Compare run NEW with run BASE, attempt by attempt. Exit 1 where a --fail-on rule fires, 3 where it cannot be
    answered because NEW is not complete."""
    from kbench import gates
    from kbench.cli.show import run_folder
    from kbench.codec import encode
    from kbench.comparison import compare
    from kbench.inert import inert
    from kbench.report import ci, comparison
    from kbench.store import load

    parsed = [gates.parse_rule(text) for text in rules]
    folders = [run_folder(run, results) for run in (base, new)]
    if folders[0].samefile(folders[1]):
        click.echo(f"kbench: WARNING: {folders[0]} is compared with itself", err=True)
    runs = [load(folder, raw_samples=False) for folder in folders]
    versions = [run.info.environment.get("torch") for run in runs]
    if versions[0] != versions[1]:
        told = "eager and torch.compile, which the speed-ups are over, may differ"
        click.echo(f"kbench: WARNING: torch {versions[0]} against {versions[1]}: {told}", err=True)
    compared = compare(runs[0], runs[1], allow_different_device, gate_confidence)
    rulings = [gates.judge(rule, compared) for rule in parsed]
    if junit_file is not None:
        ci.write_junit(junit_file, compared, rulings)
    ci.append_step_summary(comparison.as_markdown(compared, rulings))
    if ci.on_github():
        for line in ci.workflow_commands(compared, rulings):
            click.echo(line, err=as_json)
    if as_json:
        click.echo(json.dumps({"comparison": encode(compared), "rulings": [encode(ruling) for ruling in rulings]}))
    else:
        for line in comparison.as_text(compared, rulings):
            click.echo(inert(line))
        if junit_file is not None:
            click.echo(f"written: {junit_file}")
    return exit_code(compared, rulings)


def exit_code(compared: Any, rulings: Any) -> int:
    """1 where a rule fired; 3 where one cannot be answered, or attempts of NEW are missing that a rule would be about."""
    if any(ruling.fired for ruling in rulings):
        return EXIT_GATE
    unanswered = any(ruling.fired is None for ruling in rulings) or not compared.pairs
    return EXIT_INCOMPLETE if rulings and (unanswered or compared.unpaired) else 0
