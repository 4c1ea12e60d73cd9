"""The leaderboard as a folder that opens from disk: pages, assets, and data that loads when it is asked for.

    DIR/index.html  problems.html  model/RUN.html  problem/PROBLEM.html  assets/  data/plots/  data/details/RUN/PROBLEM.js

Scripts run from files beside the page only (CSP). What a model or a candidate wrote is escaped by jinja2, or becomes the text of
an element; it is never markup and never script.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kbench import leaderboard
from kbench.errors import ConfigError
from kbench.files import cannot_write
from kbench.leaderboard import Board, Row
from kbench.reference_rows import Source
from kbench.report import history_table
from kbench.report.page import charts, problems, views
from kbench.report.page.digest import Order, PageRun, slugs, write_script
from kbench.report.page.models import run_page
from kbench.report.page.rendering import HERE, render, write_plot
from kbench.store import read_info

MARKER = ".kbench-page"
OWN = ("model", "problem", "data", "assets")  # folders that are written anew


def write_page(
    target: Path, folders: Sequence[Path], sources: Sequence[Source], series: frozenset[str] | set[str] = frozenset()
) -> tuple[list[Row], list[str]]:
    """Writes the page of these runs; their rows, and why of those that cannot be read. `series` are the folders of a history.

    ConfigError where `target` holds something that is no such page, or cannot be written.
    """
    try:
        prepare(target)
        runs, unreadable = digest_all(target, folders)
        with leaderboard.uncollected():
            Page(target, runs, sources, series, unreadable).write()
    except OSError as error:
        raise cannot_write(Path(error.filename or target), error) from error
    return [run.row for run in runs], unreadable


def prepare(target: Path) -> None:
    """An empty folder, but for what is no page of ours: that is left alone."""
    if target.exists() and any(target.iterdir()) and not (target / MARKER).exists():
        raise ConfigError(f"--html {target}: holds something that is no kbench page; give a new or empty folder")
    for name in OWN:
        shutil.rmtree(target / name, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    (target / MARKER).touch()
    for name in ("model", "problem", "data/plots", "data/problems", "data/details"):
        (target / name).mkdir(parents=True)
    shutil.copytree(HERE / "assets", target / "assets")
    (target / "assets" / "bokeh.min.js").write_bytes(charts.script())


def digest_all(target: Path, folders: Sequence[Path]) -> tuple[list[PageRun], list[str]]:
    """What the pages show of every run; and why of those that cannot be read, a line each."""
    infos, unreadable = leaderboard.spread(lambda folder: (folder, read_info(folder)), folders, 0)
    names = slugs(info.run_id for _, info in infos)
    problem_names = list(dict.fromkeys(problem for _, info in infos for problem in info.problems))
    problem_slugs = dict(zip(problem_names, slugs(problem_names), strict=True))
    orders = [Order(folder, slug, target, problem_slugs) for (folder, _), slug in zip(infos, names, strict=True)]
    sizes = sum(leaderboard.attempts_bytes(folder) for folder, _ in infos)
    runs, more = leaderboard.spread(run_page, orders, sizes)
    rows = leaderboard.beside_each_other([run.row for run in runs])
    return [replace(run, row=row) for run, row in zip(runs, rows, strict=True)], unreadable + more


class Page:
    """All pages of one set of runs."""

    def __init__(
        self, target: Path, runs: Sequence[PageRun], sources: Sequence[Source], series: Any, unreadable: Sequence[str]
    ) -> None:
        self.target, self.runs, self.sources, self.unreadable = target, list(runs), sources, unreadable
        self.of_run = {run.row.folder: run for run in runs}
        self.series = history_table.in_order([run.row for run in runs if run.row.folder in series])

    def write(self) -> None:
        boards = leaderboard.boards(run.row for run in self.runs)
        table = problems.problem_table(self.runs)
        self.index(boards)
        self.render("problems.html", "problems.html", "", problems=[problems.problem_row(p) for p in table])
        for problem in table:
            context = problems.problem_page(problem)
            self.render(f"problem/{problem.slug}.html", "problem.html", "../", **context)
            write_script(
                self.target / "data" / "problems" / f"{problem.slug}.js", "kbenchAttempts", problem.slug,
                problems.attempts_data(problem),
            )  # fmt: skip

    def index(self, boards: Sequence[Board]) -> None:
        shown, columns = [], views.columns(self.runs)
        names = frozenset(str(column["name"]) for column in columns)
        for i, board in enumerate(boards):
            members = [self.of_run[row.folder] for row in board.rows]
            shown.append(
                views.board(f"cell-{i + 1}", board, members, list(self.board_plots(f"c{i + 1}", members)), names)
            )
        levels = sorted({level for board in boards for level in board.levels if level is not None})
        self.render(
            "index.html", "index.html", "", runs=len(self.runs), boards=shown, unreadable=self.unreadable,
            levels=views.level_choices(levels),
            columns=columns, names=names, history=list(self.history()), sources=[views.source(s) for s in self.sources],
            published_columns=views.PUBLISHED_COLUMNS,
        )  # fmt: skip

    def board_plots(self, name: str, members: Sequence[PageRun]) -> Iterator[views.Plot]:
        rows = [run.row for run in members]
        for baseline in ("compile", "eager"):
            if any(run.log_speedups(baseline) for run in members):
                yield self.plot(f"{name}-fast-{baseline}", charts.fast_p(members, baseline),
                                f"Share of attempts that are correct and more than p times as fast as {baseline}.")  # fmt: skip
                yield self.plot(f"{name}-spread-{baseline}", charts.distribution(members, baseline),
                                f"Speed-ups over {baseline} of correct solutions: median, middle half, 5 to 95 %.")  # fmt: skip
        cost = charts.pass_against_cost(rows)
        if cost is not None:
            yield self.plot(f"{name}-cost", cost, "Pass rate against what a solved problem cost.")
        best = charts.best_of_k(rows, "compile")
        if best is not None:
            yield self.plot(
                f"{name}-best", best, "Expected best of k attempts over compile, failures at 1.0, with 95 % intervals."
            )

    def history(self) -> Iterator[dict[str, Any]]:
        for number, cell in enumerate(dict.fromkeys(row.cell for row in self.series)):
            rows = [row for row in self.series if row.cell == cell]
            key = f"history-{number}"
            plots = [
                self.plot(f"{key}-{metric}", charts.history(rows, metric), f"{views.title(metric)} by checkpoint, with 95 % intervals.")
                for metric in history_table.TRACKED if views.any_value(rows, metric)
            ]  # fmt: skip
            columns = history_table.columns()[:-1]
            table = [cells[:-1] for cells in history_table.table_rows(rows)]
            yield {"title": cell.title, "columns": columns, "rows": table, "plots": plots}

    def plot(self, name: str, item: Any, caption: str) -> views.Plot:
        return write_plot(self.target, name, item, caption)

    def render(self, path: str, template: str, root: str, **context: Any) -> None:
        render(self.target, path, template, root, **context)
