"""kbench eval: judge one kernel in hand, or a folder of stored replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import judging_options, run_options, settings_from, warn_of_sandbox


@click.command(name="eval")
@click.argument("folder", required=False, metavar="[RUN_OR_DIR]")
@click.option(
    "--solution",
    help="one kernel in hand: a file that defines ModelNew, or builtin/eager, builtin/compile, builtin/compile-max-autotune",
)
@click.option(
    "--problem-id",
    "--problem",
    "-p",
    "problem",
    multiple=True,
    metavar="ID",
    help="level1/019_relu, or 019_relu; a glob with RUN_OR_DIR",
)
@click.option(
    "--repro", type=click.Path(path_type=Path, dir_okay=False), help="write a standalone script of the failed call"
)
@judging_options
@run_options(problem=False)
def command(folder: str | None, solution: str | None, repro: Path | None, **flags: Any) -> int:
    """Judge stored replies (RUN_OR_DIR), or one solution on one problem: is it right, and how fast is it really?

    A wrong kernel is a result: the exit code is 0 whatever the verdict.
    """
    from kbench import keys
    from kbench.errors import ConfigError

    keys.hide()  # judging asks nobody
    if (folder is None) == (solution is None):
        raise ConfigError("give a folder of solutions, or --solution FILE --problem ID")
    if repro is not None and (folder is not None or flags["run_id"]):
        raise ConfigError(
            "--repro is of one solution in hand: give --solution and --problem, without RUN_OR_DIR and --run-id"
        )
    if folder is not None:
        from kbench.cli.run import run_model
        from kbench.models.replay import Replay

        return run_model(Replay(folder), flags)
    if len(flags["problem"]) != 1:
        raise ConfigError("give one --problem ID for --solution (kbench problems list shows them)")
    assert solution is not None
    return judge_one(solution, flags["problem"][0], repro, flags)


def judge_one(solution: str, problem_id: str, repro: Path | None, flags: dict[str, Any]) -> int:
    """Judges one solution; recorded as a run where --run-id names one."""
    from kbench import registry
    from kbench.evaluate import Session, problem_case, read_solution
    from kbench.models.builtin import builtin_solution
    from kbench.models.single import Single

    settings = settings_from(flags)
    problem = registry.find(registry.discover(flags["suite"]), problem_id)
    candidate = (
        builtin_solution(solution, problem) if solution.startswith("builtin/") else read_solution(Path(solution))
    )
    if flags["run_id"]:
        from kbench.cli.run import run_model

        return run_model(Single(candidate), {**flags, "problem": (problem.id,)})
    problem_case(problem, settings)  # has it these shapes? Before anything is started
    with Session(settings) as session:
        warn_of_sandbox(session.rung)
        with waiting(f"judging {solution} on {problem.id} ..."):
            verdict = session.judge(problem, candidate)
    if repro is not None:
        write_repro(repro, problem, candidate, settings, verdict)
    show(problem.id, solution, candidate, verdict, flags["as_json"])
    return 3 if verdict.status == "infra_error" else 0


def waiting(text: str) -> Any:
    """A spinner on a terminal; one plain line elsewhere."""
    from contextlib import nullcontext

    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        return console.status(text)
    click.echo(text, err=True)
    return nullcontext()


def show(problem_id: str, solution: str, candidate: Any, verdict: Any, as_json: bool) -> None:
    from kbench.codec import encode
    from kbench.report.console import output
    from kbench.report.verdict import print_verdict

    if as_json:
        head = {"problem": problem_id, "solution": solution, "language": candidate.language}
        click.echo(json.dumps({**head, **encode(verdict)}))
    else:
        print_verdict(output(), f"{problem_id}  {solution}  ({candidate.language})", verdict)


def write_repro(path: Path, problem: Any, candidate: Any, settings: Any, verdict: Any) -> None:
    from kbench.files import write_atomic
    from kbench.repro import script

    text = script(problem, candidate, settings, verdict)
    if text is None:
        click.echo(f"kbench: no failed call to show (status {verdict.status}); {path} is not written", err=True)
        return
    write_atomic(path, text)
    click.echo(f"kbench: wrote {path}; run it with python", err=True)
