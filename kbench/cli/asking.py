"""Flags of the commands that ask a model: which one, how, with what prompt, at what cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from kbench.cli.options import Number
from kbench.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])
UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
FACTS = (
    "device",
    "model",
    "cores",
    "cache_bytes",
    "name",
    "compute_capability",
    "multiprocessors",
    "memory_bytes",
    "l2_bytes",
)
# As in prompts, which are not imported here.
STYLES, LANGUAGES = ("zero-shot", "one-shot", "few-shot"), ("auto", "cuda", "triton", "cpp")


def asking_options(function: F) -> F:
    """The flags below. None of them matters to builtin/ and replay/ models."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
    click.option("--language", type=click.Choice(LANGUAGES), default="auto", show_default=True, help="what kernels are written in"),
    click.option("--prompt", "style", type=click.Choice(STYLES), default="one-shot", show_default=True,
                 help="how many worked examples the prompt has"),
    click.option("--hardware", help="what it will run on, as the prompt names it, where that is not here: \"NVIDIA H200\""),
    click.option("--connections", type=click.IntRange(1, 256), default=8, show_default=True, help="requests in flight"),
    click.option("--max-tokens", type=click.IntRange(min=1), help="of a reply, reasoning included"),
    click.option("--temperature", type=Number(0, 2), help="sent only to models that take one"),
    click.option("--top-p", type=Number(0, 1)),
    click.option("--seed", type=int, help="sample k is asked with seed + k, where the provider takes one"),
    click.option("--reasoning-effort", metavar="EFFORT", help="none, minimal, low, medium, high, xhigh or max, as the model has them"),
    click.option("--thinking-budget", type=click.IntRange(min=0), metavar="TOKENS", help="anthropic/ and google/"),
    click.option("--base-url", help="the server's address; of local/ by default http://localhost:8000/v1"),
    click.option("-M", "model_options", multiple=True, metavar="KEY=VALUE",
                 help="any of the settings above, api=chat, timeout_s, retries, or body.NAME for a field of the request"),
    click.option("--max-cost", type=Number(min=0), metavar="USD", help="of the whole run, earlier sessions included"),
    click.option("--max-tokens-total", type=click.IntRange(min=0), help="input and output of the whole run"),
    click.option("--max-time", metavar="TIME", help="of the whole run: 90, 90s, 30m or 8h"),
    click.option("--no-reply-cache", is_flag=True, help="use no reply of another run"),
    click.option("--dry-run", is_flag=True, help="print the prompt, counts and the worst-case cost; ask nothing"),
)  # fmt: skip


@contextmanager
def opened_plan(name: str, flags: dict[str, Any], here: bool = True) -> Iterator[tuple[Any, Path]]:
    """The plan that the flags describe and the folder of its run, the model closed in the end. Its keys leave this process's
    environment, so that no child has them.

    What is wrong with the other flags is said before a server is asked anything. ConfigError or ModelError, within seconds,
    where it cannot be asked.
    """
    from kbench import keys
    from kbench.cli.planning import plan_of, run_folder
    from kbench.models.opening import open_model
    from kbench.models.remote import Remote

    if name.startswith("agent/"):
        from kbench.agent.command import Program

        model: Any = Program(name)
    else:
        model = open_model(name, settings_of(flags))
    keys.hide()
    with closing(model) if isinstance(model, Remote) else nullcontext():
        plan = plan_of(model, flags, here)
        folder = run_folder(plan, flags)
        if isinstance(model, Remote):
            model.check()
            for line in model.unsent():
                click.echo(f"kbench: {line}", err=True)
        yield plan, folder


def stopped_line(why: str, left: str, again: str) -> str:
    """What is left, and that the same command goes on with it; not where a limit of its own stopped it."""
    return f"kbench: stopped: {why}; {left}{'' if why.startswith('--max') else f', the same command {again}'}"


def settings_of(flags: dict[str, Any]) -> Any:
    from kbench.models.settings import ModelSettings, with_options

    names = (
        "max_tokens",
        "temperature",
        "top_p",
        "seed",
        "reasoning_effort",
        "thinking_budget",
        "base_url",
    )
    given: dict[str, Any] = {name: flags.get(name) for name in names}
    return with_options(ModelSettings(**given), flags.get("model_options", ()))


def target_of(flags: dict[str, Any], settings: Any) -> Any:
    """What the prompt is written for: the judging settings, and this machine's device or the one that --hardware names."""
    from kbench import environment
    from kbench.prompts import Target

    if flags["hardware"]:
        hardware: dict[str, object] = {"device": flags["hardware"]}
    else:
        facts = environment.describe(settings.device)
        hardware = {name: facts[name] for name in FACTS if facts.get(name) is not None}
    return Target(
        flags["language"], flags["style"], settings.device, settings.shapes, settings.precision, settings.policy,
        settings.baselines, hardware,
    )  # fmt: skip


def limits_of(flags: dict[str, Any]) -> Any:
    from kbench.budget import Limits

    return Limits(flags["max_cost"], flags["max_tokens_total"], seconds(flags["max_time"]))


def seconds(text: str | None) -> float | None:
    """ "90", "90s", "30m" or "8h"."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if match is None:
        raise ConfigError(f"--max-time {text!r}: give seconds, or 30m, or 8h")
    return float(match[1]) * UNITS_S[match[2]]
