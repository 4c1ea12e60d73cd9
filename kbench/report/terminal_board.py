"""A leaderboard on a terminal: one narrow table a cell and level, remarks below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kbench.inert import one_line
from kbench.leaderboard import METRIC, Board, Row, estimate, placed
from kbench.report import history_table
from kbench.report.board import figure_text, money, rank_text

SHOWN = ("pass_rate", "faster_compile", "geomean_vs_compile")


def tables(board: Board) -> Iterator[RenderableType]:
    yield Text(board.cell.title, "bold")
    levels = board.levels if len(board.levels) > 2 else board.levels[:1]
    for level in levels:
        table = Table(
            title="all levels" if level is None else f"level {level}", title_justify="left", box=box.SIMPLE_HEAD
        )
        table.add_column("rank", no_wrap=True)
        table.add_column("model, run", overflow="fold")
        for name in (*SHOWN, "cost/solved"):
            table.add_column(METRIC[name].title if name in METRIC else name, justify="right")
        for row, rank in placed(board, level):
            figures = [figure_text(estimate(row, METRIC[n], level), METRIC[n].rate) for n in SHOWN]
            who = Text.assemble(one_line(row.model), ("\n" + one_line(row.run_id), "dim"))
            table.add_row(rank_text(rank), who, *figures, money(row))
        yield table
    for row in board.rows:
        if row.caveats:
            yield Text(one_line(f"{row.run_id}: {'; '.join(row.caveats)}", 1000), "yellow")


def history(rows: Sequence[Row]) -> Iterator[RenderableType]:
    if not rows:
        return
    table = Table(title="history", title_justify="left", box=box.SIMPLE_HEAD)
    for name in history_table.columns():
        table.add_column(name, justify="left" if name in ("run", "made", "cell") else "right")
    for cells in history_table.table_rows(rows):
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    yield table
