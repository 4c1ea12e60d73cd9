"""kbench run: the main job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kbench.cli.agents import agent_options
from kbench.cli.asking import asking_options, opened_plan, stopped_line
from kbench.cli.options import judging_options, run_options, warn_of_sandbox


@click.command(name="run")
@click.option(
    "--model",
    "model_name",
    required=True,
    help="anthropic/NAME, google/NAME, openai/NAME, local/NAME, agent/PRESET@MODEL, builtin/eager, replay/PATH",
)
@click.option(
    "--turns",
    type=click.IntRange(1, 50),
    default=1,
    show_default=True,
    help="refinement turns with the referee's feedback",
)
@agent_options
@asking_options
@judging_options
@run_options()
def command(model_name: str, **flags: Any) -> int:
    """Ask a model for kernels, build them, judge them, and print the rates of each level. The same command again resumes."""
    if flags["dry_run"]:
        from kbench.cli.planning import dry_run

        return dry_run(model_name, flags)
    with opened_plan(model_name, flags) as (plan, folder):
        return run_plan(plan, folder, flags)


def run_model(model: Any, flags: dict[str, Any]) -> int:
    """The same for a model that is opened already."""
    from kbench.cli.planning import plan_of, run_folder

    plan = plan_of(model, flags)
    return run_plan(plan, run_folder(plan, flags), flags)


def run_plan(plan: Any, folder: Path, flags: dict[str, Any]) -> int:
    """Runs the plan and prints its table. Exit code 0 complete, 3 incomplete but resumable."""
    from kbench.codec import encode
    from kbench.evaluate import Session
    from kbench.report.console import output
    from kbench.report.progress import Display
    from kbench.report.table import noise_remark, remarks, summary_table
    from kbench.run import execute
    from kbench.store import RunStore
    from kbench.words import counted

    with RunStore(folder) as store, Session(plan.settings) as session:
        warn_of_sandbox(session.rung)
        mode = "none" if flags["display"] == "json" else flags["display"]
        try:
            with Display(mode, len(plan.problems) * plan.samples) as display:
                ended = execute(plan, folder.name, store, session, display.report, display.expect)
        except KeyboardInterrupt:
            kept, asked = len(store.done_keys()), len(plan.problems) * plan.samples
            click.echo(
                f"kbench: {folder} holds {kept} of {counted(asked, 'attempt')}; the same command goes on", err=True
            )
            raise
    summary = ended.summary
    if flags["as_json"] or flags["display"] == "json":
        click.echo(json.dumps({"run": str(folder), "stopped": ended.stopped, **encode(summary)}))
    else:
        console = output()
        console.print(summary_table(f"{plan.model.name}  ({plan.settings.device}, {plan.settings.protocol})", summary))
        for remark in remarks(summary):
            console.print(remark, soft_wrap=True)
        for remark in noise_remark(ended.records):
            console.print(remark, soft_wrap=True)
        click.echo(f"run folder: {folder}")
    if ended.stopped is not None:
        left = counted(len(summary.missing) + len(summary.incomplete), "attempt is", "attempts are")
        click.echo(stopped_line(ended.stopped, f"{left} left", "goes on with them"), err=True)
    return 3 if ended.resumable else 0
