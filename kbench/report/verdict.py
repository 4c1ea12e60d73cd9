"""One verdict as text that a person understands."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kbench.inert import inert, one_line
from kbench.types import Speedup, Status, Verdict
from kbench.words import format_time

DETAIL_LINES = 30
COLOURS = {Status.CORRECT: "green", Status.INFRA_ERROR: "yellow"}
MESSAGE_CHARS = 2000
FLAG_TEXT = {
    "noisy": "noisy: something disturbed the machine while this was timed; judge it again with nothing else running",
    "disturbed": "eager took several times what it took when the problem was described: the machine was busy; judge it again",
    "slower_alone": "a call made alone takes longer than one of many, beyond what eager's does: that is charged",
    "latency_bound": "latency-bound: below 10 us a call, what is timed is launching",
    "uncalibrated": "no interval: this device is not calibrated for this duration (kbench doctor --calibrate)",
    "quick": "quick: one pair of workers, no interval",
    "below_floor": "faster than all of its bytes can move: look whether the problem lets some of them stay unread",
    "throttled": "the GPU slowed itself down (heat or power supply) during some blocks",
    "shared": "another process had the GPU open during some blocks: its work is in these times",
}


def print_verdict(console: Console, title: str, verdict: Verdict) -> None:
    console.print(Group(*_parts(title, verdict)), soft_wrap=True)


def _parts(title: str, verdict: Verdict) -> Iterator[RenderableType]:
    yield Text.assemble((str(verdict.status), f"bold {COLOURS.get(verdict.status, 'red')}"), "  ", title)
    if verdict.message:
        yield Text(f"  {one_line(verdict.message, MESSAGE_CHARS)}")
    if verdict.mismatch is not None:
        yield Text(f"  {_mismatch(verdict)}")
    yield from _timing(verdict)
    yield _gates(verdict)
    if verdict.errors:
        yield _errors(verdict)
    if verdict.detail:
        yield Text(_tail(verdict.detail), style="dim")
    if verdict.stage_seconds:
        spent = sorted(verdict.stage_seconds.items(), key=lambda item: -item[1])
        told = ", ".join(f"{name} {seconds:.1f}" for name, seconds in spent if seconds >= 0.05)
        yield Text(f"  seconds: {sum(verdict.stage_seconds.values()):.1f} in all: {told}", style="dim")
    yield Text(f"  {verdict.device}, protocol {verdict.protocol}, sandbox {verdict.sandbox}", style="dim")


def _mismatch(verdict: Verdict) -> str:
    wrong = verdict.mismatch
    assert wrong is not None
    place = "".join(f"[{i}]" for i in wrong.index)
    return (
        f"first wrong element: {wrong.output}{place} is {wrong.actual:.9g}, fp64 says {wrong.expected:.9g} "
        f"({wrong.wrong_elements:,} of {wrong.total_elements:,} elements out of bounds)"
    )


def _timing(verdict: Verdict) -> Iterator[RenderableType]:
    timing = verdict.timing
    if timing is None:
        return
    for speedup in timing.speedups:
        yield Text(f"  {format_speedup(speedup)} {speedup.baseline}", style="bold")
    times = "   ".join(f"{side} {format_time(us)}" for side, us in timing.latency_us.items())
    yield Text(f"  time of a call: {times}")
    if timing.warm_us:
        warm = "   ".join(f"{side} {format_time(us)}" for side, us in timing.warm_us.items())
        yield Text(f"  the same inputs again, so that caches hold them (not scored, not checked): {warm}", style="dim")
    if timing.floor_us:
        reached = timing.floor_us / timing.latency_us["candidate"]
        yield Text(
            f"  moving its bytes alone takes {format_time(timing.floor_us)}: {reached:.0%} of what memory allows"
        )
    for flag in timing.flags:
        yield Text(f"  {FLAG_TEXT.get(flag, one_line(flag))}", style="yellow")


def format_speedup(speedup: Speedup) -> str:
    bounds = speedup.interval
    return f"{speedup.value:.3g}x" + (f" [{bounds.low:.3g}, {bounds.high:.3g}]" if bounds is not None else "")


def _gates(verdict: Verdict) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=True)
    marks = {True: Text("ok", "green"), False: Text("FAILED", "red"), None: Text("-", "dim")}
    for gate in verdict.gates:
        table.add_row(" ", marks[gate.passed], gate.name, Text(one_line(gate.evidence, MESSAGE_CHARS)))
    return table


def _errors(verdict: Verdict) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=True)
    for column in ("error against fp64", "candidate", "eager", "budget"):
        table.add_column(column, justify="left" if column.startswith("error") else "right", style="dim")
    for figure in verdict.errors:
        table.add_row(figure.metric, *(f"{x:.2e}" for x in (figure.candidate, figure.eager, figure.budget)))
    return table


def _tail(text: str) -> str:
    lines = inert(text).strip().splitlines()
    kept = lines[-DETAIL_LINES:]
    head = [f"[... {len(lines) - len(kept)} lines before ...]"] if len(kept) < len(lines) else []
    return "\n".join(f"    {line}" for line in [*head, *kept])
