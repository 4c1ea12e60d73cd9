"""kbench from Python: `load` a run as a table, `judge` a kernel. `import kbench` alone loads nothing of this.

frame = kbench.load("results/my-run")
verdict = kbench.judge("level1/019_relu", source, device="cpu")
reward = 1.0 if verdict.status == "correct" else 0.0
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbench import registry
from kbench.aggregate import BASELINES
from kbench.cli.options import judging_options, settings_from
from kbench.cli.show import run_folder
from kbench.errors import ConfigError
from kbench.evaluate import Session, Settings
from kbench.extract import detect_language
from kbench.store import latest
from kbench.store import load as load_run
from kbench.types import Problem, Record, Solution, Verdict

if TYPE_CHECKING:
    import pandas as pd

_sessions: dict[Settings, Session] = {}


def load(run: str | Path, results: str | Path = "results") -> pd.DataFrame:
    """One row an attempt (its last record), one column a fact: run_id, model, problem_id, level, sample, status, passed,
    speedup_eager and speedup_compile with _low and _high, latency_us, language, message, tokens_input, tokens_output,
    cost_usd, started, ended, solution_hash, sandbox, protocol, device, flags of the timing ("noisy,quick").

    `run` is a run's folder, or its name under `results`. Unknown is NaN or None, never 0; `passed` is None for an attempt that
    was not run or ended in an infrastructure error. ConfigError where there is no such run.
    """
    import pandas as pd

    stored = load_run(run_folder(str(run), Path(results)), raw_samples=False)
    model = str(stored.info.config.get("model", ""))
    return pd.DataFrame([{"model": model, **dict(_columns(record))} for record in latest(stored.records)])


def judge(
    problem: str | Problem, source: str, *, device: str = "auto", suite: str | Path | None = None, **options: Any
) -> Verdict:
    """The verdict on one candidate's source, reached as by `kbench eval`: the same flags, the same defaults.

    `problem` is an id ("level1/019_relu", or "019_relu") of kbench's own problems or of `suite`. `options` are the flags of
    `kbench eval` by name: protocol="quick", policy="any", precision="bf16", shapes="full", baseline="eager", timeout=30.

    A bad kernel is a Verdict, never an exception. ConfigError for options that cannot be had here, ProblemError where the problem
    itself cannot be run. The referee stays open between calls, one a set of options, so that a problem's references are
    timed once: call `close` to let go of the device, else that happens at exit. Not for several threads at once.
    """
    if not isinstance(source, str):
        raise TypeError(f"judge() wants the candidate's source as text, not {type(source).__name__}")
    settings = settings_from(_flags(device=device, **options))
    found = problem if isinstance(problem, Problem) else registry.find(registry.discover(_path(suite)), problem)
    if settings not in _sessions:
        _sessions[settings] = Session(settings)
    return _sessions[settings].judge(found, Solution(source, "api", detect_language(source)))


def close() -> None:
    """Ends every referee that `judge` opened."""
    while _sessions:
        _sessions.popitem()[1].__exit__()


atexit.register(close)


def _path(suite: str | Path | None) -> Path | None:
    return None if suite is None else Path(suite)


def _flags(**given: Any) -> dict[str, Any]:
    """The judging flags of the command line with their defaults, overridden. TypeError for one that there is not."""

    @judging_options
    def nothing() -> None: ...

    options = {str(option.name): option for option in click.command(nothing).params}
    flags = {name: option.default for name, option in options.items()}
    flags = {name: None if "UNSET" in repr(value).upper() else value for name, value in flags.items()}
    unknown = given.keys() - flags.keys()
    if unknown:
        raise TypeError(f"judge() has no option {', '.join(sorted(unknown))}; there are {', '.join(sorted(flags))}")
    for name, value in given.items():
        choices = getattr(options[name].type, "choices", None)
        if choices is not None and value not in choices:
            raise ConfigError(f"{name}={value!r}: give one of {', '.join(choices)}")
    return flags | given


def _columns(record: Record) -> Iterator[tuple[str, Any]]:
    verdict, reply = record.verdict, record.reply
    timing = verdict.timing if verdict is not None else None
    for name in ("run_id", "problem_id", "level", "sample"):
        yield name, getattr(record, name)
    yield "status", None if record.status is None else str(record.status)
    yield "passed", record.status == "correct" if record.settled and record.status is not None else None
    for baseline in BASELINES:
        speedup = timing.speedup(baseline) if timing is not None else None
        bounds = speedup.interval if speedup is not None else None
        yield f"speedup_{baseline}", None if speedup is None else speedup.value
        yield f"speedup_{baseline}_low", None if bounds is None else bounds.low
        yield f"speedup_{baseline}_high", None if bounds is None else bounds.high
    yield "latency_us", timing.latency_us.get("candidate") if timing is not None else None
    yield "message", record.not_run or (verdict.message if verdict is not None else None)
    for name in ("tokens_input", "tokens_output", "cost_usd"):
        yield name, None if reply is None else getattr(reply, name)
    for name in ("language", "origin", "solution_hash", "started", "ended"):
        yield name, getattr(record, name)
    for name in ("sandbox", "protocol", "device"):
        yield name, None if verdict is None else getattr(verdict, name)
    yield "flags", None if timing is None else ",".join(timing.flags)
