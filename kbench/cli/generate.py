"""kbench generate: the left half of a run. Needs a network and no device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kbench.cli.asking import asking_options, opened_plan, stopped_line
from kbench.cli.options import judging_options, run_options


@click.command(name="generate")
@click.option("--model", "model_name", required=True, help="anthropic/NAME, google/NAME, openai/NAME or local/NAME")
@asking_options
@judging_options
@run_options()
def command(model_name: str, **flags: Any) -> int:
    """Ask a model for kernels and store the replies; `kbench eval FOLDER` judges them, there or elsewhere.

    The same flags given to `kbench run` go on from what is stored. The judging flags decide what the prompt says.
    """
    from kbench.errors import ConfigError
    from kbench.models.remote import Remote

    if flags["dry_run"]:
        from kbench.cli.planning import dry_run

        return dry_run(model_name, flags, here=False)
    with opened_plan(model_name, flags, here=False) as (plan, folder):
        if not isinstance(plan.model, Remote):
            raise ConfigError(f"{model_name}: nothing to ask; kbench run judges it as it is")
        return generate_all(plan, folder, flags)


def generate_all(plan: Any, folder: Path, flags: dict[str, Any]) -> int:
    """Exit code 0 where every reply is stored, 3 where some are missing."""
    from kbench.run import generate
    from kbench.store import RunStore

    def tell(line: str) -> None:
        if flags["display"] in ("auto", "rich", "plain"):
            click.echo(line, err=True)

    with RunStore(folder) as store:
        missing, stopped = generate(plan, folder.name, store, tell)
    attempts = len(plan.problems) * plan.samples
    if flags["as_json"] or flags["display"] == "json":
        click.echo(json.dumps({"run": str(folder), "attempts": attempts, "missing": missing, "stopped": stopped}))
    else:
        click.echo(f"{attempts - missing} of {attempts} replies are stored; judge them with: kbench eval {folder}")
    if missing:
        why = stopped or "requests failed"
        click.echo(stopped_line(why, f"{missing} replies are missing", "asks for them"), err=True)
    return 3 if missing else 0
