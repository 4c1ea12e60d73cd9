"""A leaderboard as Markdown, CSV and JSON. The same figures in all three; unknown is "-", an empty cell, null."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from kbench.codec import encode
from kbench.files import csv_text
from kbench.leaderboard import METRIC, METRICS, Board, Rank, Row, estimate, placed, ranks
from kbench.reference_rows import SCOPES, Figures, Source
from kbench.report.markdown import escape, table
from kbench.summary import Estimate

UNKNOWN = "-"
SHOWN = (
    "pass_rate",
    "faster_eager",
    "faster_compile",
    "surely_faster_compile",
    "geomean_vs_eager",
    "geomean_vs_compile",
)
CSV_COLUMNS = (
    "kind", "cell", "run_id", "model", "created", "scope", "rank", "rank_best", "rank_worst", "metric", "parameter",
    "value", "low", "high", "over", "of", "caveats", "source", "date",
)  # fmt: skip


def scope_name(level: int | None) -> str:
    return "overall" if level is None else f"level{level}"


def figure_text(estimate: Estimate | None, rate: bool) -> str:
    """ "67.0% (21-94)", "1.42x (1.30-1.55)"."""
    if estimate is None or estimate.value is None:
        return UNKNOWN
    bounds = estimate.interval
    if rate:
        span = f" ({bounds.low * 100:.0f}-{bounds.high * 100:.0f})" if bounds else ""
        return f"{estimate.value:.1%}{span}"
    return f"{estimate.value:.2f}x" + (f" ({bounds.low:.2f}-{bounds.high:.2f})" if bounds else "")


def rank_text(rank: Rank | None) -> str:
    """The place, and the places that chance leaves open: "2 (1-3)"."""
    if rank is None:
        return UNKNOWN
    return str(rank.place) + (f" ({rank.best}-{rank.worst})" if rank.best < rank.worst else "")


def money(row: Row) -> str:
    cost = row.cost_per_solved_usd
    return UNKNOWN if cost is None else f"${cost:.3g}"


def tokens(row: Row) -> str:
    return UNKNOWN if row.tokens_per_solved is None else f"{row.tokens_per_solved:,.0f}"


# ---- Markdown --------------------------------------------------------------------------------------------------------


def as_markdown(boards: Sequence[Board], sources: Sequence[Source], levels: Sequence[int | None] | None = None) -> str:
    lines = ["# kbench leaderboard", ""]
    for board in boards:
        lines += [f"## {escape(board.cell.title)}", ""]
        for level in board.levels:
            if levels is None or level in levels:
                lines += [f"### {'all levels' if level is None else f'level {level}'}", "", *_table(board, level), ""]
    if sources:
        lines += [
            "## Published results",
            "",
            "Taken from their sources; not measured here, and never ranked with what was.",
            "",
        ]
    for source in sources:
        lines += [f"### {escape(source.title)}{f' ({source.id}, {source.date})' if source.date else ''}", ""]
        lines += [escape(source.conditions), "", *_published(source), ""]
    return "\n".join(lines)


def _table(board: Board, level: int | None) -> Iterator[str]:
    columns = (
        "model",
        "run",
        "rank",
        *(METRIC[name].title for name in SHOWN),
        "refused",
        "cost/solved",
        "tokens/solved",
        "remarks",
    )
    rows = [
        (row.model, row.run_id, rank_text(rank), *(figure_text(estimate(row, METRIC[n], level), METRIC[n].rate) for n in SHOWN),
         figure_text(estimate(row, METRIC["refusal_rate"], level), True), money(row), tokens(row), "; ".join(row.caveats))
        for row, rank in placed(board, level)
    ]  # fmt: skip
    yield from table(columns, rows)


def _published(source: Source) -> Iterator[str]:
    columns = (
        "model",
        "scope",
        "pass rate",
        "faster than eager",
        "faster than compile",
        "over eager",
        "over compile",
        "remarks",
    )
    rows = []
    for row in source.rows:
        remark = f"{row.table}{f'; {row.note}' if row.note else ''}"
        if not row.scopes:
            rows.append((row.model, UNKNOWN, *[UNKNOWN] * 5, remark))
        for scope in SCOPES:
            if scope in row.scopes:
                rows.append((row.model, scope, *published(row.scopes[scope]), remark))
    yield from table(columns, rows)


def published(figures: Figures) -> tuple[str, ...]:
    rates = (figures.pass_rate, figures.faster_eager, figures.faster_compile)
    ratios = (figures.geomean_vs_eager, figures.geomean_vs_compile)
    return tuple(UNKNOWN if v is None else f"{v:.1%}" for v in rates) + tuple(
        UNKNOWN if v is None else f"{v:.2f}x" for v in ratios
    )


# ---- CSV and JSON ----------------------------------------------------------------------------------------------------


def as_csv(boards: Sequence[Board], sources: Sequence[Source]) -> str:
    """One figure a row."""
    measured = (
        figure
        for board in boards
        for level in board.levels
        for row, rank in placed(board, level)
        for figure in _figures(board, row, level, rank)
    )
    return csv_text(CSV_COLUMNS, itertools.chain(measured, _published_figures(sources)))


def _published_figures(sources: Sequence[Source]) -> Iterator[dict[str, object]]:
    for source in sources:
        for row in source.rows:
            head = {"kind": "published", "model": row.model, "source": source.id, "date": source.date,
                    "caveats": row.note}  # fmt: skip
            if not row.scopes:
                yield dict(head)
            for scope, figures in row.scopes.items():
                values = {name: getattr(figures, name) for name in Figures.__slots__ if name != "problems"}
                for name, value in values.items():
                    if value is not None:
                        yield {**head, "scope": scope, "metric": name, "value": value, "of": figures.problems}


def _figures(board: Board, row: Row, level: int | None, rank: Rank | None) -> Iterator[dict[str, object]]:
    head: dict[str, object] = {
        "kind": "measured", "cell": board.cell.title, "run_id": row.run_id, "model": row.model, "created": row.created,
        "scope": scope_name(level), "caveats": "; ".join(row.caveats),
    }  # fmt: skip
    if rank is not None:
        head |= {"rank": rank.place, "rank_best": rank.best, "rank_worst": rank.worst}
    summary = row.level(level)
    assert summary is not None
    for metric in METRICS:
        yield {**head, **_cells(metric.name, "", metric.figure(summary))}
    for baseline, against in summary.baselines.items():
        for p, found in against.fast_p.items():
            yield {**head, **_cells(f"fast_p_{baseline}", p, found)}
        for k, found in against.best_at_k.items():
            yield {**head, **_cells(f"best_at_k_{baseline}", k, found)}
    for k, found in summary.pass_at_k.items():
        yield {**head, **_cells("pass_at_k", k, found)}
    for status, count in summary.statuses.items():
        yield {**head, "metric": "status", "parameter": status, "value": count}
    for name, value in (("cost_per_solved_usd", row.cost_per_solved_usd), ("tokens_per_solved", row.tokens_per_solved)):
        if level is None and value is not None:
            yield {**head, "metric": name, "value": value}


def _cells(name: str, parameter: str, found: Estimate | None) -> dict[str, object]:
    cells: dict[str, object] = {"metric": name, "parameter": parameter}
    if found is not None:
        cells |= {"over": found.over, "of": found.of}
    if found is not None and found.value is not None:
        cells |= {"value": found.value}
        cells |= {} if found.interval is None else {"low": found.interval.low, "high": found.interval.high}
    return cells


def as_json(boards: Sequence[Board], sources: Sequence[Source]) -> dict[str, Any]:
    return {
        "schema": 1,
        "boards": [
            {
                "cell": encode(board.cell),
                "title": board.cell.title,
                "rows": [_row_json(row) for row in board.rows],
                "ranks": {
                    scope_name(level): {folder: encode(rank) for folder, rank in ranks(board.rows, level).items()}
                    for level in board.levels
                },
            }
            for board in boards
        ],
        "published": [encode(source) for source in sources],
    }


def _row_json(row: Row) -> dict[str, Any]:
    value: dict[str, Any] = encode(row)
    value["summary"] = {
        name: v for name, v in value["summary"].items() if name in ("samples", "levels", "overall", "not_run")
    }
    return {
        **value, "ranked": row.ranked, "cost_per_solved_usd": row.cost_per_solved_usd,
        "tokens_per_solved": row.tokens_per_solved, "missing": len(row.summary.missing),
        "infrastructure_errors": len(row.summary.incomplete),
    }  # fmt: skip
