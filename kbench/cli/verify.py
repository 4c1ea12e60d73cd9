"""kbench verify: does a run's summary follow from its raw samples, and is the run whole?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command(name="verify")
@click.argument("run")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option("--suite", type=click.Path(path_type=Path), help="check the problems' hashes against this suite")
@click.option(
    "--rejudge",
    "count",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="judge N attempts, drawn at random, again on this machine",
)
@click.option("--trajectories", is_flag=True, help="judge every state of agents' episodes again, without a model")
@click.option("--json", "as_json", is_flag=True)
def command(run: str, results: Path, suite: Path | None, count: int, trajectories: bool, as_json: bool) -> int:
    """Derive every time and speed-up from the raw blocks again, the summary from the records, and check hashes,
    completeness, protocol and sandbox. Exit 1 where anything differs. What was found is kept in the run's
    verification.json, where the leaderboard looks."""
    from kbench import __version__, attestation
    from kbench.attempts import timestamp
    from kbench.cli.show import run_folder
    from kbench.errors import ConfigError
    from kbench.verify import findings

    folder = run_folder(run, results)
    content = attestation.content_hash(folder)
    found = findings(folder, suite)
    again = judge_again(folder, suite, count) if count else []
    keys = tuple(one.key for one in again)
    again += replay_all(folder, suite) if trajectories else []
    found += [f"{one.key}: judged again: {one.differs}" for one in again if one.differs is not None]
    try:
        attestation.write(folder, attestation.Attestation(__version__, timestamp(), content, tuple(found), keys))
    except ConfigError as error:
        click.echo(f"kbench: what was found is not kept: {error}", err=True)
    if as_json:
        told = [{"attempt": one.key, "agrees": one.differs is None, "note": one.note} for one in again]
        click.echo(json.dumps({"ok": not found, "findings": found, "rejudged": told}))
    else:
        show(found, again, count)
    return 1 if found else 0


def show(found: list[str], again: list[Any], asked: int) -> None:
    from kbench.inert import unbroken
    from kbench.words import counted

    for one in again:
        if one.differs is None:
            click.echo(f"judged again: {one.key}: {one.note}")
    for line in found:
        click.echo(f"finding: {unbroken(line)}")
    if found:
        click.echo(counted(len(found), "finding"))
        return
    judged = f"; {counted(len(again), 'verdict')} made again, with the same status" if again else ""
    if asked and not again:
        judged = "; none could be judged again"
    click.echo(f"verified: the summary follows from the raw samples{judged}")


def judge_again(folder: Path, suite: Path | None, count: int) -> list[Any]:
    import random

    from kbench import keys, rejudge
    from kbench.cli.options import warn_of_sandbox
    from kbench.evaluate import Session
    from kbench.store import load

    keys.hide()
    stored = load(folder, raw_samples=False)
    named = stored.info.config.get("suite")
    records = rejudge.choose(stored, count, random.SystemRandom())
    with Session(rejudge.settings_of(stored.info.config)) as session:
        warn_of_sandbox(session.rung)
        where = suite or (Path(str(named)) if named and str(named) != "None" else None)
        return rejudge.rejudge(stored, records, session.judge, where, lambda text: click.echo(text, err=True))


def replay_all(folder: Path, suite: Path | None) -> list[Any]:
    """Every state of every episode of the run, and its final verdict, judged again."""
    import os

    from kbench import keys, registry, rejudge
    from kbench.agent.judge import Judge
    from kbench.agent.replay import replay
    from kbench.artifacts import place_of
    from kbench.errors import ConfigError
    from kbench.evaluate import Session
    from kbench.store import latest, load

    keys.hide()
    stored = load(folder, raw_samples=False)
    named = stored.info.config.get("suite")
    where = suite or (Path(str(named)) if named and str(named) != "None" else None)
    problems = {problem.id: problem for problem in registry.discover(where)}
    settings = rejudge.settings_of(stored.info.config)
    found: list[Any] = []

    def report(text: str) -> None:
        click.echo(text, err=True)

    with Session(settings) as session:
        judge = Judge(session, settings, os.cpu_count() or 1)
        for record in latest(stored.records):
            problem = problems.get(record.problem_id)
            if record.agent is None:
                continue
            if problem is None or problem.content_hash != stored.info.problems[record.problem_id]:
                raise ConfigError(f"{record.problem_id} is not here as it was; name the run's suite with --suite")
            place = place_of(folder, record.problem_id, record.sample)
            found += replay(place, problem, record.key, record.origin, judge, report)
            if rejudge.was_judged(record):
                found += rejudge.rejudge(stored, [record], judge.time_again, where, report)
        judge.close()
    return found
