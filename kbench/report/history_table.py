"""A metric over the checkpoints of a model: the runs in the order they were made, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kbench.codec import encode
from kbench.leaderboard import METRIC, Row, estimate
from kbench.report.board import figure_text
from kbench.report.markdown import table

TRACKED = ("pass_rate", "faster_compile", "geomean_vs_compile", "penalised_vs_compile")


def in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.created, row.run_id))


def as_markdown(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return "\n".join(["", "## History", "", *table(columns(), table_rows(rows)), ""])


def columns() -> tuple[str, ...]:
    return ("run", "made", *(METRIC[name].title for name in TRACKED), "cell")


def table_rows(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """One row a run. A run of another cell than the first's says so: its figures continue no line."""
    for row in rows:
        figures = [figure_text(estimate(row, METRIC[name], None), METRIC[name].rate) for name in TRACKED]
        yield row.run_id, row.created[:16], *figures, "same" if row.cell == rows[0].cell else "another cell"


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "run_id": row.run_id, "model": row.model, "created": row.created, "cell": encode(row.cell),
            **{name: encode(found) if (found := estimate(row, METRIC[name], None)) else None for name in TRACKED},
        }
        for row in rows
    ]  # fmt: skip
