"""kbench show: one run, or one attempt of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command(name="show")
@click.argument("run")
@click.argument("attempt", required=False)
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option("--code", is_flag=True, help="the solution's source")
@click.option("--log", is_flag=True, help="the compiler's output or the traceback, whole")
@click.option("--prompt", is_flag=True, help="what the model was told, the last turn with all before it")
@click.option("--reply", is_flag=True, help="what it answered, refusals too")
@click.option("--trajectory", is_flag=True, help="an agent's episode, turn by turn")
@click.option("--turn", type=click.IntRange(min=1), help="this turn of it alone, uncut")
@click.option(
    "--profile",
    "profiled",
    is_flag=True,
    help="one call under NVIDIA's ncu, here and now: bandwidth, occupancy, roofline",
)
@click.option(
    "--suite", type=click.Path(path_type=Path), help="--profile: where the problem of a run with --suite lies"
)
@click.option("--json", "as_json", is_flag=True)
def command(
    run: str, attempt: str | None, results: Path, code: bool, log: bool, prompt: bool, reply: bool, trajectory: bool,
    turn: int | None, profiled: bool, suite: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """The table of RUN (a folder, or a name under --results), or one ATTEMPT (level1/019_relu or level1/019_relu#1)."""
    from kbench.codec import encode
    from kbench.errors import ConfigError
    from kbench.report.console import output
    from kbench.store import latest, load

    stored = load(run_folder(run, results))
    places = {problem: place for place, problem in enumerate(stored.info.problems)}
    records = sorted(latest(stored.records), key=lambda r: (places.get(r.problem_id, len(places)), r.sample))
    wanted = {"solution.py": code, "detail.log": log, "prompt": prompt, "reply.txt": reply}
    if attempt is None:
        if any(wanted.values()) or trajectory or turn is not None or profiled:
            raise ConfigError(
                "--code, --log, --prompt, --reply, --trajectory, --turn and --profile are of one attempt: name it too"
            )
        if as_json:
            click.echo(json.dumps([encode(record) for record in records]))
        else:
            show_run(output(), stored, records)
        return
    record = find_attempt(records, attempt)
    if profiled:
        show_profile(stored, record, suite, as_json)
        return
    if as_json:
        click.echo(json.dumps(encode(record)))
        return
    told = trajectory_of(stored.folder, record, turn) if trajectory or turn is not None else []
    show_attempt(output(), stored.folder, record, [name for name, asked_for in wanted.items() if asked_for])
    for line in told:
        click.echo(line)


def show_profile(run: Any, record: Any, suite: Path | None, as_json: bool) -> None:
    """The attempt's stored solution under ncu. ConfigError where it cannot be had, or nothing can be said here."""
    from kbench import costs, environment, keys, rates, registry
    from kbench.codec import encode
    from kbench.errors import ConfigError
    from kbench.evaluate import Session
    from kbench.profiling import profile
    from kbench.rejudge import settings_of, still, stored_solution, was_judged
    from kbench.report.console import output
    from kbench.report.profile import profile_parts

    keys.hide()
    if not was_judged(record):
        raise ConfigError(f"{record.key}: there is no solution in it to profile")
    problems = {problem.id: problem for problem in registry.discover(suite)}
    problem = still(problems.get(record.problem_id), record, run)
    solution, settings = stored_solution(run, record, problem), settings_of(run.info.config)
    with Session(settings) as session:
        found = profile(session, problem, solution)
    if as_json:
        click.echo(json.dumps([encode(kernel) for kernel in found]))
        return
    cost = (costs.known(problem) or {}).get(settings.shapes)
    measured = rates.load(environment.cache_folder(), environment.device_key(settings.device))
    for part in profile_parts(found, cost.flops if cost else None, measured, str(settings.precision)):
        output().print(part, soft_wrap=True)


def trajectory_of(folder: Path, record: Any, turn: int | None) -> list[str]:
    """The lines of its episode. ConfigError where it was none."""
    from kbench.agent.showing import told
    from kbench.agent.trajectory import NAME, whole_events
    from kbench.artifacts import place_of
    from kbench.errors import ConfigError

    path = place_of(folder, record.problem_id, record.sample) / NAME
    if not path.is_file():
        raise ConfigError(f"{record.key} was no episode of an agent: it has no trajectory")
    return list(told(whole_events(path), turn))


def run_folder(run: str, results: Path) -> Path:
    """A run by its folder, or by its name under the results folder. ConfigError with what there is."""
    from kbench.errors import ConfigError

    for folder in (Path(run), results / run):
        try:
            if (folder / "run.json").is_file():
                return folder
        except OSError as error:
            raise ConfigError(f"{str(folder)[:80]}: cannot be read: {error.strerror}") from error
    there = sorted(p.parent.name for p in results.glob("*/run.json"))
    raise ConfigError(f"no run {run!r}; under {results}/: {', '.join(there[:8]) or 'none'}")


def show_run(console: Any, stored: Any, records: Any) -> None:
    from kbench import aggregate
    from kbench.report.table import attempts_table, noise_remark, remarks, summary_table
    from kbench.words import counted

    summary = aggregate.summarise(stored.records, list(stored.info.problems), stored.info.samples)
    console.print(summary_table(f"{stored.info.run_id}  ({stored.info.config.get('model')})", summary))
    console.print(attempts_table(records))
    for remark in (*remarks(summary), *noise_remark(records)):
        console.print(remark, soft_wrap=True)
    waiting = waiting_replies(stored.folder, summary)
    if waiting:
        told = f"{counted(waiting, 'reply is', 'replies are')} stored of them: kbench eval {stored.folder} judges"
        console.print(f"{told} {'it' if waiting == 1 else 'them'}", soft_wrap=True)


def waiting_replies(folder: Path, summary: Any) -> int:
    """How many of the missing attempts have a stored reply."""
    from kbench.artifacts import place_of
    from kbench.models.kept import reply_name

    places = (place_of(folder, problem, sample) for problem, _, sample in (k.partition("#") for k in summary.missing))
    return sum((place / reply_name(0)).is_file() for place in places)


def find_attempt(records: Any, attempt: str) -> Any:
    from kbench.errors import ConfigError

    key = attempt if "#" in attempt else f"{attempt}#0"
    for record in records:
        if record.key == key or record.key.rsplit("/", 1)[-1] == key:
            return record
    meant = [r.key for r in records if attempt in r.key]
    if meant:
        raise ConfigError(f"no attempt {attempt!r} in this run; did you mean {' or '.join(meant[:4])}?")
    raise ConfigError(f"no attempt {attempt!r} in this run; it has {', '.join(r.key for r in records[:8])}")


def show_attempt(console: Any, folder: Path, record: Any, wanted: list[str]) -> None:
    from kbench.artifacts import place_of
    from kbench.files import read_plain
    from kbench.inert import inert, one_line
    from kbench.report.verdict import print_verdict

    if record.verdict is None:
        console.print(one_line(f"{record.status or 'not run'}  {record.key}  {record.not_run or ''}"), markup=False)
    else:
        print_verdict(console, one_line(f"{record.key}  {record.origin}  ({record.language})"), record.verdict)
    for line in [*reply_lines(record), *agent_lines(record)]:
        console.print(inert(line), soft_wrap=True, markup=False)
    place = place_of(folder, record.problem_id, record.sample)
    for name in wanted:
        paths = sorted(place.glob("prompt.*.txt"))[-1:] if name == "prompt" else [place / name]
        for path in paths:
            data = read_plain(path)
            if data is not None:
                click.echo(data.decode("utf-8", "replace"))


def agent_lines(record: Any) -> list[str]:
    if record.agent is None:
        return []
    from kbench.agent.showing import facts_lines

    return facts_lines(record.agent, record.verdict)


def reply_lines(record: Any) -> list[str]:
    """What is known of the model's reply, and of the turns that led to it."""
    lines = [
        f"  turn {at + 1}: {turn.status}" + "".join(f", {v:.3g}x {name}" for name, v in turn.speedups.items())
        for at, turn in enumerate(record.turns)
    ]
    facts = record.reply
    if facts is None:
        return lines
    told = [f"{facts.model}: stop reason {facts.stop_reason}", facts.note, facts.stop_detail]
    amounts = (("input", facts.tokens_input), ("output", facts.tokens_output), ("reasoning", facts.tokens_reasoning))
    told.append(", ".join(f"{amount} {word} tokens" for word, amount in amounts if amount is not None))
    told.append(f"${facts.cost_usd:.4f}" if facts.cost_usd is not None else "")
    told.append(f"{facts.broken} replies broke off before it" if facts.broken else "")
    return [*lines, "  " + "; ".join(part for part in told if part)]
