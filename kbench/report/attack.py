"""The exploit suite's outcomes: progress lines, the matrix of families, the controls, JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kbench.attack import Outcome
from kbench.evaluate import Settings


class Progress:
    """One line a case, with an estimate of what is left."""

    def __init__(self, total: int, say: Callable[[str], None]) -> None:
        self.total, self.done, self.say = total, 0, say
        self.started = time.monotonic()

    def building(self, line: str) -> None:
        self.say(line)
        self.started = time.monotonic()  # judging begins when the last of these is said

    def tell(self, outcome: Outcome) -> None:
        self.done += 1
        left_s = (time.monotonic() - self.started) / self.done * (self.total - self.done)
        left = f", about {left_s:.0f} s left" if self.done < self.total else ""
        word = "" if outcome.held else f"  DOES NOT HOLD: {outcome.fault}"
        self.say(f"{outcome.case.id}: {outcome.verdict.status}{word} [{self.done}/{self.total}{left}]")


def attack_tables(outcomes: Sequence[Outcome], settings: Settings, rung: str) -> Iterator[RenderableType]:
    """Exploits, controls, and the sum in words."""
    exploits = [outcome for outcome in outcomes if outcome.case.exploit is not None]
    controls = [outcome for outcome in outcomes if outcome.case.exploit is None]
    if exploits:
        yield _table("exploits", exploits)
    if controls:
        yield _table("honest controls", controls)
    yield Text(_sum(exploits, controls))
    yield Text(
        f"{settings.device}, {settings.shapes} shapes, protocol {settings.protocol}, sandbox {rung}", style="dim"
    )


def _table(title: str, outcomes: Sequence[Outcome]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in ("family", "variant", "language", "verdict"):
        table.add_column(column, no_wrap=True)
    table.add_column("evidence")
    last = ""
    for outcome in outcomes:
        case = outcome.case
        family = case.folder.replace("_", " ") if case.folder != last else ""
        last = case.folder
        style = "green" if outcome.held else "bold red"
        evidence = outcome.evidence if outcome.held else f"DOES NOT HOLD: {outcome.fault}"
        table.add_row(family, case.name, case.language, Text(str(outcome.verdict.status), style), Text(evidence))
    return table


def _sum(exploits: Sequence[Outcome], controls: Sequence[Outcome]) -> str:
    parts = []
    if exploits:
        families = {outcome.case.family for outcome in exploits}
        held = sum(outcome.held for outcome in exploits)
        parts.append(f"{held} of {len(exploits)} exploits of {len(families)} families held")
    if controls:
        parts.append(f"{sum(outcome.held for outcome in controls)} of {len(controls)} honest controls passed")
    return "; ".join(parts)


def as_data(outcomes: Sequence[Outcome], settings: Settings, rung: str) -> dict[str, Any]:
    """The same for a program."""
    cases = [
        {
            "id": outcome.case.id,
            "family": outcome.case.family,
            "kind": "control" if outcome.case.exploit is None else "exploit",
            "claim": None if outcome.case.exploit is None else str(outcome.case.exploit.claim),
            "language": outcome.case.language,
            "problem": outcome.case.problem,
            "status": str(outcome.verdict.status),
            "evidence": outcome.evidence,
            "held": outcome.held,
            "fault": outcome.fault,
        }
        for outcome in outcomes
    ]
    return {
        "device": settings.device,
        "shapes": settings.shapes,
        "protocol": settings.protocol,
        "sandbox": rung,
        "held": all(outcome.held for outcome in outcomes),
        "cases": cases,
    }
