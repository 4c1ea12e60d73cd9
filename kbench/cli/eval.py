"""kbench eval: judge one kernel in hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import judging_options, settings_from


@click.command(name="eval")
@click.option("--solution", required=True, help="file that defines ModelNew, or builtin/eager, builtin/compile")
@click.option("--problem", "problem_id", required=True, help="level1/019_relu, or 019_relu")
@judging_options
@click.option(
    "--repro", type=click.Path(path_type=Path, dir_okay=False), help="write a standalone script of the failed call"
)
@click.option("--json", "as_json", is_flag=True, help="the verdict as JSON on stdout")
def command(solution: str, problem_id: str, repro: Path | None, as_json: bool, **flags: Any) -> int:
    """Judge one solution on one problem: is it right, and how fast is it beside eager and torch.compile?

    A wrong kernel is a result: the exit code is 0 whatever the verdict.
    """
    from rich.console import Console

    from kbench import registry
    from kbench.codec import encode
    from kbench.evaluate import Session, read_solution
    from kbench.models.builtin import builtin_solution
    from kbench.report.verdict import print_verdict

    settings = settings_from(flags)
    problem = registry.find(registry.discover(flags["suite"]), problem_id)
    candidate = (
        builtin_solution(solution, problem) if solution.startswith("builtin/") else read_solution(Path(solution))
    )
    errors = Console(stderr=True)
    with Session(settings) as session, errors.status(f"judging {solution} on {problem.id} ..."):
        if session.rung == "rlimits":
            errors.print(
                "kbench: no namespaces here: the candidate shares files and processes with you", style="bold red"
            )
        verdict = session.judge(problem, candidate)
    if repro is not None:
        write_repro(repro, problem, candidate, settings, verdict)
    if as_json:
        click.echo(
            json.dumps({"problem": problem.id, "solution": solution, "language": candidate.language, **encode(verdict)})
        )
    else:
        print_verdict(Console(), f"{problem.id}  {solution}  ({candidate.language})", verdict)
    return 3 if verdict.status == "infra_error" else 0


def write_repro(path: Path, problem: Any, candidate: Any, settings: Any, verdict: Any) -> None:
    from kbench.files import write_atomic
    from kbench.repro import script

    text = script(problem, candidate, settings, verdict)
    if text is None:
        click.echo(f"kbench: no failed call to show (status {verdict.status}); {path} is not written", err=True)
        return
    write_atomic(path, text)
    click.echo(f"kbench: wrote {path}; run it with python", err=True)
