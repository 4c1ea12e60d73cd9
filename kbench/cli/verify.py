"""kbench verify: does a run's summary follow from its raw samples, and is the run whole?"""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(name="verify")
@click.argument("run")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option("--suite", type=click.Path(path_type=Path), help="check the problems' hashes against this suite")
@click.option("--json", "as_json", is_flag=True)
def command(run: str, results: Path, suite: Path | None, as_json: bool) -> int:
    """Derive every speed-up from the raw blocks again, and the summary from the records; exit 1 where they differ."""
    from kbench.cli.show import run_folder
    from kbench.verify import findings

    found = findings(run_folder(run, results), suite)
    if as_json:
        click.echo(json.dumps({"ok": not found, "findings": found}))
    else:
        for line in found:
            click.echo(f"differs: {line}")
        click.echo("verified: the summary follows from the raw samples" if not found else f"{len(found)} findings")
    return 1 if found else 0
