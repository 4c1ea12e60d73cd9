"""kbench leaderboard: runs ranked per level within their cells."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

import click

EXIT_UNREADABLE = 2


@click.command(name="leaderboard")
@click.argument("runs", nargs=-1)
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default="results", show_default=True)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="write the page: a folder that opens from disk without a network",
)
@click.option("--md", "markdown", type=click.Path(path_type=Path, dir_okay=False), help="write Markdown")
@click.option("--csv", "table", type=click.Path(path_type=Path, dir_okay=False), help="write CSV, one figure a row")
@click.option("--json", "as_json", is_flag=True, help="everything as JSON on stdout")
@click.option(
    "--history",
    metavar="GLOB",
    help="runs by name, oldest first, as a series with intervals: the checkpoints of a model",
)
@click.option("--no-published", is_flag=True, help="without the published results")
def command(runs: tuple[str, ...], results: Path, page: Path | None, markdown: Path | None, table: Path | None,
            as_json: bool, history: str | None, no_published: bool) -> int:  # fmt: skip
    """Rank RUNs (folders, or names under --results; all of them without a word) per level, each within its cell. What
    cannot be read is left out, told on stderr, and the exit code is 2."""
    from kbench import leaderboard, reference_rows
    from kbench.files import write_atomic
    from kbench.inert import unbroken
    from kbench.report import board, history_table

    folders, missing = named_folders(runs, results)
    if not runs and not history:
        folders = run_folders(results)
    series = run_folders(results, history) if history else []
    everything = list(dict.fromkeys([*folders, *series]))
    sources = () if no_published else reference_rows.sources()
    if page is not None:
        from kbench.report.page import write_page

        rows, unreadable = write_page(page, everything, sources, {str(folder) for folder in series})
    else:
        rows, unreadable = leaderboard.read_rows(everything)
    unreadable = [*missing, *unreadable]
    of_series = history_table.in_order([row for row in rows if row.folder in {str(f) for f in series}])
    boards = leaderboard.boards(rows)
    if markdown is not None:
        write_atomic(markdown, board.as_markdown(boards, sources) + history_table.as_markdown(of_series))
    if table is not None:
        write_atomic(table, board.as_csv(boards, sources))
    if as_json:
        told = {"history": history_table.as_json(of_series), "unreadable": unreadable}
        click.echo(json.dumps({**board.as_json(boards, sources), **told}))
    else:
        show(boards, of_series)
        for path in (page / "index.html" if page else None, markdown, table):
            if path is not None:
                click.echo(f"written: {path}")
    for why in unreadable:
        click.echo(f"kbench: left out: {unbroken(why)}", err=True)
    return EXIT_UNREADABLE if unreadable else 0


def named_folders(runs: tuple[str, ...], results: Path) -> tuple[list[Path], list[str]]:
    """The folders of the named runs, and a line for each that is not there. ConfigError where all of them are missing."""
    from kbench.cli.show import run_folder
    from kbench.errors import ConfigError

    found: dict[Path, None] = {}
    missing = []
    for run in runs:
        try:
            found[run_folder(run, results)] = None
        except ConfigError as error:
            missing.append(str(error))
    if missing and not found:
        raise ConfigError("; ".join(missing))
    return list(found), missing


def run_folders(results: Path, pattern: str | None = None) -> list[Path]:
    """The folders of all runs (that match the pattern) under `results`. ConfigError for none."""
    from kbench.errors import ConfigError

    found: list[Path] = []
    for start in (results, Path()) if pattern else (results,):  # a name under the results folder, or a path
        places = glob.iglob(str(Path(glob.escape(str(start))) / (pattern or "*") / "run.json"), recursive=True)
        found = found or sorted(Path(place).parent for place in places)
    if not found:
        what = f"matches {pattern!r}" if pattern else "is there"
        raise ConfigError(f"no run {what} under {results}/; kbench run makes one, --results names another folder")
    return found


def show(boards: Any, series: Any) -> None:
    """The boards as tables that fit a terminal."""
    from kbench.report import terminal_board
    from kbench.report.console import output

    console = output()
    for board in boards:
        for renderable in terminal_board.tables(board):
            console.print(renderable, soft_wrap=False)
    for renderable in terminal_board.history(series):
        console.print(renderable)
