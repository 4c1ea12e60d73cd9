"""kbench export: a run in other tools' formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
@click.option(
    "--trajectories",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.jsonl",
    help="the episodes of agents alone, one a line, in the chat format of fine-tuning",
)
@click.option("--min-reward", type=int, default=-1, show_default=True, help="of those episodes: -1, 1, 2 or 3")
def command(run: str, results: Path, target: Path | None, trajectories: Path | None, min_reward: int) -> None:
    """KernelBench's eval_results.json and baseline JSON (eager, compile), and summary.csv; or the trajectories of agents."""
    from kbench import aggregate
    from kbench.cli.show import run_folder
    from kbench.errors import ConfigError
    from kbench.export import write_baseline, write_eval_results
    from kbench.store import load
    from kbench.summary import write_summary
    from kbench.words import counted

    stored = load(run_folder(run, results))
    if trajectories is not None:
        if not any(record.agent is not None for record in stored.records):
            raise ConfigError(f"{stored.folder}: none of its attempts was an agent's, so there is no trajectory")
        count = write_trajectories(stored, trajectories, min_reward)
        click.echo(f"{counted(count, 'episode')} in {trajectories}")
        return
    folder = target or own_folder(stored.folder)
    written = write_eval_results(stored.records, folder)
    for path in written:
        click.echo(str(path))
    if not written:
        click.echo("kbench: no attempt is recorded yet, so there is no eval_results.json", err=True)
    names = {"eager": "baseline_time_torch.json", "compile": "baseline_time_torch_compile_inductor_default.json"}
    for side, name in names.items():
        if any(r.verdict and r.verdict.timing and side in r.verdict.timing.latency_us for r in stored.records):
            write_baseline(stored.records, side, folder / name)
            click.echo(str(folder / name))
    write_summary(folder, aggregate.summarise(stored.records, list(stored.info.problems), stored.info.samples))
    click.echo(str(folder / "summary.csv"))


def own_folder(run: Path) -> Path:
    """The run's own folder for it. ConfigError where whoever sent the run put a link there, which leads elsewhere."""
    from kbench.errors import ConfigError

    folder = run / "export"
    levels = [folder, *(folder.iterdir() if folder.is_dir() else ())]
    if any(path.is_symlink() for path in levels):
        raise ConfigError(f"{folder}: is a link, or holds one; give another folder with --to")
    return folder


def write_trajectories(stored: Any, path: Path, min_reward: int) -> int:
    """How many episodes were written: those whose reward is high enough, a line each."""
    from kbench.agent.trajectory import NAME, chat, whole_events
    from kbench.artifacts import place_of
    from kbench.files import write_atomic
    from kbench.store import latest

    lines = []
    for record in latest(stored.records):
        file = place_of(stored.folder, record.problem_id, record.sample) / NAME
        if record.agent is None or record.agent.reward < min_reward or not file.is_file():
            continue
        facts = {"problem": record.problem_id, "sample": record.sample, "reward": record.agent.reward}
        lines.append(json.dumps({**chat(whole_events(file)), **facts, "stop_reason": record.agent.stop_reason}))
    write_atomic(path, "".join(line + "\n" for line in lines))
    return len(lines)
