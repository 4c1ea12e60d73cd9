"""kbench problems check: is a problem fit to judge kernels by?"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import settings_from, warn_of_sandbox

SHAPES_BY_DEVICE = {"cpu": ("small", "odd")}


@click.command(name="check")
@click.option(
    "--suite", type=click.Path(path_type=Path), help="a KernelBench checkout in place of kbench's own problems"
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, or cuda:N")
@click.option(
    "--shapes",
    default="auto",
    show_default=True,
    help="full, medium, small, odd, several with commas; auto is small and odd on a CPU, the GPU's own and odd elsewhere",
)
@click.option("-p", "--problem", multiple=True, metavar="GLOB", help="problems whose id or name matches; repeatable")
@click.option("--level", help="1, 2, 3, 1,2 or 1-3; without it all of them")
@click.option("--limit", type=click.IntRange(min=1), help="the first N problems of each level")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    help="a KernelBench checkout: which of its models is each one most like?",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="problems at once; what is timed has the device to itself, and what takes more than its share of memory is alone",
)
@click.option("--quick", is_flag=True, help="without torch.compile, and without leaving out single operators")
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    help="where findings are kept; by default kbench's cache",
)
@click.option("--again", is_flag=True, help="measure anew what is kept")
@click.option("--json", "as_json", is_flag=True, help="everything that was found as JSON on stdout")
def command(**flags: Any) -> int:
    """Admit problems, or say why not: by what wrong kernels would get away with. The same command again resumes.

    Exit code 1 where a problem has a fault, 3 where a check broke off.
    """
    from kbench import keys
    from kbench.admission import check, plain
    from kbench.evaluate import Session
    from kbench.findings import Standing

    keys.hide()
    checking = checking_of(flags)
    items = sum(1 for _ in checking.items())
    with ExitStack() as stack:
        sessions = [stack.enter_context(Session(checking.settings)) for _ in range(max(1, min(flags["jobs"], items)))]
        warn_of_sandbox(sessions[0].rung)
        ended = check(checking, sessions, Progress(items).report)
    if flags["against"]:
        ended = compared(ended, checking.problems, flags["against"])
    if flags["as_json"]:
        click.echo(json.dumps([plain(admission) for admission in ended]))
    else:
        show(ended)
    if any(admission.standing() is Standing.FAULT for admission in ended):
        return 1
    return 0 if all(admission.complete for admission in ended) else 3


def checking_of(flags: dict[str, Any]) -> Any:
    """What the flags ask for. ConfigError for what cannot be had."""
    from kbench import environment, registry
    from kbench.admission import Checking

    judged = {"precision": "fp32", "protocol": "strict", "quick": False, "policy": "any", "baseline": "eager",
              "timeout": 60.0, "require_sandbox": False}  # fmt: skip
    settings = settings_from({**judged, "device": flags["device"], "shapes": "auto"})
    levels = registry.parse_levels(flags["level"]) if flags["level"] else None
    problems = registry.select(registry.discover(flags["suite"]), levels, flags["problem"], flags["limit"])
    named = tuple(part.strip() for part in flags["shapes"].split(",") if part.strip())
    shapes = SHAPES_BY_DEVICE.get(settings.device, (settings.shapes, "odd")) if named == ("auto",) else named
    kept = flags["results"] or environment.cache_folder() / "checks"
    return Checking(tuple(problems), replace(settings, shapes=shapes[0]), shapes, flags["quick"], kept, flags["again"])


def compared(ended: Sequence[Any], problems: Sequence[Any], against: Path) -> list[Any]:
    """The admissions with a finding more: the model of that suite whose code each problem's is most like."""
    from kbench import registry, similarity

    others = similarity.shapes_of(registry.discover(against))
    found = {problem.id: similarity.finding(problem, others) for problem in problems}
    return [replace(admission, findings=(*admission.findings, found[admission.problem_id])) for admission in ended]


class Progress:
    """A line on stderr when a problem has been checked, with an estimate of what is left."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.measured, self.seconds = total, 0, 0, 0.0
        self.started = time.monotonic()

    def report(self, admission: Any, known: bool) -> None:
        self.done += 1
        self.measured += not known
        spent = time.monotonic() - self.started
        left = spent / self.measured * (self.total - self.done) if self.measured else 0.0
        estimate = f", about {left:.0f} s left" if left else ""
        killed, total = admission.score
        told = f"{admission.standing()}, {killed}/{total} mutants killed" if total else f"{admission.standing()}"
        head = f"[{self.done}/{self.total}{estimate}] {admission.problem_id} {admission.shapes}"
        print(f"{head}: {told}{' (kept)' if known else ''}", file=sys.stderr, flush=True)


def show(ended: Sequence[Any]) -> None:
    from kbench.report.admission import admissions_table, remarks
    from kbench.report.console import output

    console = output()
    console.print(admissions_table(ended))
    for remark in remarks(ended):
        console.print(remark, soft_wrap=True, highlight=False, markup=False)
