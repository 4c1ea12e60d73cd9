"""Published results, as data with source and date. They stand apart from measured rows and are never ranked with them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from kbench.codec import decode

FILE = "reference_rows.json"
SCOPES = ("overall", "level1", "level2", "level3")


@dataclass(frozen=True, slots=True)
class Figures:
    """Rates are shares; ratios are geometric means over correct solutions. None is not published, which is not 0."""

    problems: int | None
    pass_rate: float | None
    faster_eager: float | None
    faster_compile: float | None
    geomean_vs_eager: float | None
    geomean_vs_compile: float | None


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    model: str
    table: str  # where in the source
    scopes: dict[str, Figures]  # "overall", "level1", ...
    note: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    id: str
    title: str
    date: str
    url: str
    conditions: str  # what a reader must know before comparing
    rows: tuple[ReferenceRow, ...]


def sources() -> tuple[Source, ...]:
    text = resources.files("kbench").joinpath("data", FILE).read_text(encoding="utf-8")
    return decode(tuple[Source, ...], json.loads(text))
