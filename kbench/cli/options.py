"""Flags that several commands share, and what they resolve to."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kbench.errors import ConfigError
from kbench.evaluate import Settings
from kbench.referee.case import PROTOCOLS
from kbench.types import MOST_SAMPLES, POLICIES, Precision

F = TypeVar("F", bound=Callable[..., Any])
BASELINES = ("eager", "compile")
FULL_BYTES = 75 << 30  # of device memory: the full shapes are made for an 80 GB GPU


class Number(click.FloatRange):
    """A number; not NaN, which no bound refuses, and not infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number that can be used", param, ctx)
        return number


def judging_options(function: F) -> F:
    """--suite, --device, --shapes, --precision, --protocol, --quick, --policy, --baseline, --timeout, --require-sandbox."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
    click.option("--suite", type=click.Path(path_type=Path), help="a KernelBench checkout in place of kbench's own problems"),
    click.option("--device", default="auto", show_default=True, help="auto, cpu, or cuda:N; auto is the first GPU, else the CPU"),
    click.option("--shapes", default="auto", show_default=True,
                 help="auto, full, medium, small or odd; auto is full on a GPU of 80 GB, medium on a smaller one, small on a CPU"),
    click.option("--precision", type=click.Choice([p.value for p in Precision]), default="fp32", show_default=True),
    click.option("--protocol", type=click.Choice(list(PROTOCOLS)), default="strict", show_default=True),
    click.option("--quick", is_flag=True, help="short for --protocol quick: one pair of workers, no interval"),
    click.option("--policy", type=click.Choice(POLICIES), default="custom", show_default=True,
                 help="what counts: any, custom (own kernels do work), pure (no library compute)"),
    click.option("--baseline", default="eager,compile", show_default=True, help="what to time beside the candidate"),
    click.option("--timeout", type=Number(min=1), default=60.0, show_default=True, help="seconds a block may take"),
    click.option("--require-sandbox", is_flag=True, help="refuse to run with less than namespaces"),
)  # fmt: skip


def settings_from(flags: dict[str, Any], device: str | None = None) -> Settings:
    """Settings from the flags of `judging_options`. ConfigError says which one cannot be had here.

    `device`: one that need not be here, in place of the flag's.
    """
    elsewhere = device is not None
    device = device or device_from(flags["device"])
    baselines = tuple(part.strip() for part in flags["baseline"].split(",") if part.strip())
    unknown = [name for name in baselines if name not in BASELINES]
    if unknown or not baselines:
        raise ConfigError(f"--baseline {flags['baseline']!r}: give eager, compile, or eager,compile")
    shapes = flags["shapes"]
    if shapes == "auto":
        shapes = best_shapes(device) if not elsewhere or device == "cpu" else "full"
    if device == "cpu" and flags["precision"] == "tf32":
        raise ConfigError("--precision tf32: a CPU has no TF32; use fp32, or a GPU")
    protocol = "quick" if flags["quick"] else flags["protocol"]
    return Settings(
        device, shapes, Precision(flags["precision"]), protocol, flags["policy"], baselines, flags["timeout"],
        flags["require_sandbox"],
    )  # fmt: skip


def device_from(name: str) -> str:
    """ "cpu" or "cuda:N", looked for. ConfigError where it is not there."""
    from kbench import environment

    if name == "auto":
        return environment.best_device()
    if name != "cpu":
        environment.gpu_facts(name)
        return name if ":" in name else f"{name}:0"
    return name


def best_shapes(device: str) -> str:
    from kbench import environment

    if device == "cpu":
        return "small"
    total = environment.gpu_facts(device)["memory_bytes"]
    return "full" if isinstance(total, int) and total >= FULL_BYTES else "medium"


def run_options(problem: bool = True) -> Callable[[F], F]:
    """--level, -p (where `problem`), --limit, --samples, --results, --run-id, --build-jobs, --display, --json."""

    def decorate(function: F) -> F:
        for option in reversed(_RUN_OPTIONS[0 if problem else 1 :]):
            function = option(function)
        return function

    return decorate


def warn_of_sandbox(rung: str) -> None:
    if rung == "rlimits":
        click.echo("kbench: WARNING: no namespaces here: candidates share files and processes with you", err=True)


_RUN_OPTIONS = (
    click.option("-p", "--problem", multiple=True, metavar="GLOB", help="problems whose id or name matches; repeatable"),
    click.option("--level", help="1, 2, 3, 1,2 or 1-3; without it all of them"),
    click.option("--limit", type=click.IntRange(min=1), help="the first N problems of each level"),
    click.option("--samples", type=click.IntRange(1, MOST_SAMPLES), default=1, show_default=True, help="attempts a problem"),
    click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True),
    click.option("--run-id", help="folder of the run; by default a hash of the resolved configuration"),
    click.option("--build-jobs", type=click.IntRange(min=1), help="builds at once; by default one a core"),
    click.option("--display", type=click.Choice(["auto", "rich", "plain", "json", "none"]), default="auto", show_default=True),
    click.option("--json", "as_json", is_flag=True, help="the result as JSON on stdout"),
)  # fmt: skip
