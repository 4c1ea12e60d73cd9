"""kbench export: a run in other tools' formats."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="export")
@click.argument("run")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, file_okay=False),
    help="folder to write to; the run's own by default",
)
def command(run: str, results: Path, target: Path | None) -> None:
    """KernelBench's eval_results.json and baseline JSON (eager, compile), and summary.csv."""
    from kbench import aggregate
    from kbench.cli.show import run_folder
    from kbench.export import write_baseline, write_eval_results
    from kbench.store import load
    from kbench.summary import write_summary

    stored = load(run_folder(run, results))
    folder = target or stored.folder / "export"
    for path in write_eval_results(stored.records, folder):
        click.echo(str(path))
    names = {"eager": "baseline_time_torch.json", "compile": "baseline_time_torch_compile_inductor_default.json"}
    for side, name in names.items():
        if any(r.verdict and r.verdict.timing and side in r.verdict.timing.latency_us for r in stored.records):
            write_baseline(stored.records, side, folder / name)
            click.echo(str(folder / name))
    write_summary(folder, aggregate.summarise(stored.records, list(stored.info.problems), stored.info.samples))
    click.echo(str(folder / "summary.csv"))
