"""kbench run: the main job."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import judging_options, run_options, settings_from, warn_of_sandbox


@click.command(name="run")
@click.option("--model", "model_name", required=True, help="builtin/eager, builtin/compile or replay/PATH")
@judging_options
@run_options()
def command(model_name: str, **flags: Any) -> int:
    """Ask a model for kernels, build them, judge them, and print the rates of each level. The same command again resumes."""
    from kbench.models.opening import open_model

    return run_model(open_model(model_name), flags)


def run_model(model: Any, flags: dict[str, Any]) -> int:
    """Runs the plan that the flags describe and prints its table. Exit code 0 complete, 3 incomplete but resumable."""
    from rich.console import Console

    from kbench import registry
    from kbench.codec import encode
    from kbench.evaluate import Session, problem_case
    from kbench.report.progress import Display
    from kbench.report.table import remarks, summary_table
    from kbench.run import Plan, execute
    from kbench.store import RunStore

    settings = settings_from(flags)
    problems = registry.discover(flags["suite"])
    chosen = registry.select(problems, wanted_levels(flags["level"], problems), flags["problem"], flags["limit"])
    chosen = [problem for problem in chosen if model_covers(model, problem, flags)]
    for problem in chosen:
        problem_case(problem, settings)  # has it these shapes? Before anything is started
    suite = str(flags["suite"]) if flags["suite"] else None
    plan = Plan(model, tuple(chosen), flags["samples"], settings, suite, flags["build_jobs"] or os.cpu_count() or 1)
    run_id = flags["run_id"] or plan.default_id()
    folder = Path(flags["results"]) / run_id
    with RunStore(folder) as store, Session(settings) as session:
        warn_of_sandbox(session.rung)
        mode = "none" if flags["display"] == "json" else flags["display"]
        with Display(mode, len(plan.problems) * plan.samples) as display:
            summary = execute(plan, run_id, store, session, display.report)
    if flags["as_json"] or flags["display"] == "json":
        click.echo(json.dumps({"run": str(folder), **encode(summary)}))
    else:
        console = Console()
        console.print(summary_table(f"{model.name}  ({settings.device}, {settings.protocol})", summary))
        for remark in remarks(summary):
            console.print(remark, soft_wrap=True)
        click.echo(f"run folder: {folder}")
    return 0 if not summary.incomplete else 3


def wanted_levels(text: str | None, problems: Any) -> tuple[int, ...] | None:
    """The levels that were asked for; without a word all of 1 to 3 that are there (KernelBench's level 4 needs a network)."""
    from kbench import registry

    if text:
        return registry.parse_levels(text)
    return tuple(sorted({problem.level for problem in problems if problem.level <= 3})) or None


def model_covers(model: Any, problem: Any, flags: dict[str, Any]) -> bool:
    """Stored solutions without a word about levels or problems: those problems that they are for."""
    if flags["level"] or flags["problem"] or not hasattr(model, "covers"):
        return True
    return bool(model.covers(problem))
