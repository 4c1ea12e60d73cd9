"""Markdown that stays what it was meant to be whatever a model, a problem or a candidate called itself."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from kbench.inert import inert

# What starts a link, an image, code, emphasis, a heading, a mention, or a table's next cell.
SPECIAL = re.compile(r"([\\`*_\[\]()#|!@~])")


def escape(text: str) -> str:
    """One line of plain text: HTML as entities, Markdown's own characters behind a backslash."""
    return SPECIAL.sub(r"\\\1", html.escape(" ".join(inert(text).split()), quote=False))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a table, the first column to the left and the others to the right."""
    yield _row(columns)
    yield _row([":--", *["--:"] * (len(columns) - 1)], raw=True)
    yield from (_row(row) for row in rows)


def _row(cells: Sequence[str], raw: bool = False) -> str:
    return f"| {' | '.join(cell if raw else escape(cell) for cell in cells)} |"
