"""Runs as rows: one a run, ranked within its cell and nowhere else. Says what a row's figures do not deserve.

Not covered: how rows look (report), and published results (reference_rows), which are never ranked.
"""

from __future__ import annotations

import gc
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from kbench import aggregate, attestation
from kbench.aggregate import BASELINES
from kbench.cell import Cell, cell_of, suite_hash_of
from kbench.errors import KBenchError
from kbench.store import ATTEMPTS, latest, load
from kbench.summary import Estimate, LevelSummary, Summary
from kbench.types import Record, RunInfo
from kbench.words import counted

S = TypeVar("S")
T = TypeVar("T")
FULL_SANDBOX = ("bubblewrap", "namespaces")
LARGE_BYTES = 64 << 20  # of attempts in all; from here a process a core is worth its start


@dataclass(frozen=True, slots=True)
class Row:
    """One run. `caveats` is what a reader must know before believing its figures; `ranked` is False for a partial run, and for
    one that left out problems as too large for the device which another run of its cell judged."""

    run_id: str
    folder: str
    model: str
    created: str
    cell: Cell
    kbench_version: str
    summary: Summary
    solved: int  # problems with a correct attempt
    sandboxes: dict[str, int]  # rung -> verdicts
    caveats: tuple[str, ...]
    baseline: bool  # every attempt is a baseline in a candidate's place
    ran: tuple[str, ...] = ()  # problems of which a solution was run here
    evaded: tuple[str, ...] = ()  # problems that it did not run, and another row of its cell did

    @property
    def ranked(self) -> bool:
        return self.summary.complete and not self.evaded

    def level(self, level: int | None) -> LevelSummary | None:
        """The figures of one level, or of all where it is None; None where the run has no problem of it."""
        if level is None:
            return self.summary.overall
        return next((found for found in self.summary.levels if found.level == level), None)

    @property
    def cost_per_solved_usd(self) -> float | None:
        cost = self.summary.overall.usage.cost_usd
        return None if cost is None or not self.solved else cost / self.solved

    @property
    def tokens_per_solved(self) -> float | None:
        usage = self.summary.overall.usage
        if usage.tokens_input is None or usage.tokens_output is None or not self.solved:
            return None
        return (usage.tokens_input + usage.tokens_output) / self.solved


@dataclass(frozen=True, slots=True)
class Metric:
    """A column: its figure of a level, None where that level does not have it."""

    name: str
    title: str
    figure: Callable[[LevelSummary], Estimate | None]
    rate: bool


def _against(baseline: str, name: str) -> Callable[[LevelSummary], Estimate | None]:
    def figure(level: LevelSummary) -> Estimate | None:
        found: Estimate | None = getattr(level.baselines[baseline], name)
        return found

    return figure


METRICS = (
    Metric("pass_rate", "pass rate", lambda level: level.pass_rate, True),
    Metric("faster_eager", "faster than eager", _against("eager", "faster"), True),
    Metric("faster_compile", "faster than compile", _against("compile", "faster"), True),
    Metric("surely_faster_compile", "surely faster than compile", _against("compile", "surely_faster"), True),
    Metric("geomean_vs_eager", "speed-up over eager", _against("eager", "geomean_correct"), False),
    Metric("geomean_vs_compile", "speed-up over compile", _against("compile", "geomean_correct"), False),
    Metric("geomean_by_level_vs_eager", "speed-up over eager by level", _against("eager", "geomean_by_level"), False),
    Metric("geomean_by_level_vs_compile", "speed-up over compile by level", _against("compile", "geomean_by_level"), False),
    Metric("penalised_vs_eager", "over eager, failures at 1", _against("eager", "geomean_penalised"), False),
    Metric("penalised_vs_compile", "over compile, failures at 1", _against("compile", "geomean_penalised"), False),
    Metric("refusal_rate", "refused", lambda level: level.refusal_rate, True),
)  # fmt: skip
METRIC = {metric.name: metric for metric in METRICS}
# The first decides, the next break ties; by eager where no row of the cell was timed against compile.
RANKED_BY = ("faster_compile", "penalised_vs_compile", "pass_rate")
RANKED_BY_EAGER = ("faster_eager", "penalised_vs_eager", "pass_rate")


@dataclass(frozen=True, slots=True)
class Rank:
    """Place in the cell by the figures, and the places that the intervals of the deciding metric leave open."""

    place: int
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Board:
    """The rows of one cell, best first, those that are not ranked last."""

    cell: Cell
    rows: tuple[Row, ...]

    @property
    def levels(self) -> tuple[int | None, ...]:
        return (*sorted({level.level for row in self.rows for level in row.summary.levels if level.level}), None)


def row_of(folder: Path, info: RunInfo, records: Sequence[Record]) -> Row:
    """The row of a run, its summary derived from the records, whatever summary.json says."""
    summary = aggregate.summarise(records, list(info.problems), info.samples)
    sandboxes = Counter(r.verdict.sandbox for r in records if r.verdict is not None and r.verdict.sandbox)
    scored = [problem for problem in summary.problems if problem.scored]
    return Row(
        run_id=info.run_id,
        folder=str(folder),
        model=str(info.config.get("model", "?")),
        created=info.created,
        cell=cell_of(info),
        kbench_version=info.kbench_version,
        summary=summary,
        solved=sum(problem.correct > 0 for problem in scored),
        sandboxes=dict(sandboxes),
        caveats=tuple(_caveats(folder, info, records, summary, sandboxes)),
        ran=tuple(sorted({r.problem_id for r in records if r.verdict is not None and r.verdict.calls_made})),
        baseline=bool(records) and all(record.exempt for record in records),
    )


def _caveats(
    folder: Path, info: RunInfo, records: Sequence[Record], summary: Summary, sandboxes: Counter[str]
) -> Iterator[str]:
    if suite_hash_of(info.problems) != info.suite_hash:
        yield "its suite hash is not that of its problems"
    if summary.missing or summary.incomplete:
        parts = [(len(summary.missing), "missing"), (len(summary.incomplete), "infrastructure errors")]
        yield "partial: " + ", ".join(f"{count} {what}" for count, what in parts if count)
    doubt = attestation.doubt(folder)
    if doubt is not None:
        yield doubt
    below = [rung for rung in sandboxes if rung not in FULL_SANDBOX]
    if below:
        yield f"below full sandbox: {', '.join(sorted(below))}"
    if summary.not_run:
        yield f"{counted(len(summary.not_run), 'problem')} too large for the device"
    timings = [r.verdict.timing for r in latest(records) if r.verdict is not None and r.verdict.timing is not None]
    noisy = sum("noisy" in timing.flags for timing in timings)
    for baseline in BASELINES:
        untimed = sum(timing.speedup(baseline) is None for timing in timings)
        if 0 < untimed < len(timings):
            yield f"{untimed} of {counted(len(timings), 'timing')} without {baseline}"
    if noisy:
        yield f"{noisy} of {counted(len(timings), 'timing')} noisy"


def read_row(folder: Path) -> Row:
    run = load(folder, raw_samples=False)
    return row_of(folder, run.info, run.records)


def read_rows(folders: Sequence[Path]) -> tuple[list[Row], list[str]]:
    """The row of every run; and why of those that cannot be read, a line each."""
    rows, unreadable = spread(read_row, folders, sum(attempts_bytes(folder) for folder in folders))
    return beside_each_other(rows), unreadable


def beside_each_other(rows: Sequence[Row]) -> list[Row]:
    """The rows, with what each of them evaded: a problem too large for the device is so for every run of the cell."""
    judged: defaultdict[Cell, set[str]] = defaultdict(set)
    for row in rows:
        judged[row.cell].update(row.ran)
    found = []
    for row in rows:
        evaded = tuple(sorted(row.summary.not_run.keys() & judged[row.cell]))
        caveat = f"{counted(len(evaded), 'problem')} not run that others of the cell ran"
        found.append(replace(row, evaded=evaded, caveats=(*row.caveats, caveat)) if evaded else row)
    return found


def spread(work: Callable[[S], T], items: Sequence[S], size_bytes: int) -> tuple[list[T], list[str]]:
    """`work` of every item in order, in a process a core where there is much to read; and the KBenchErrors that it raised."""
    cores = len(os.sched_getaffinity(0))
    careful = partial(_attempted, work)
    if size_bytes < LARGE_BYTES or cores == 1 or len(items) == 1:
        found = [careful(item) for item in items]
    else:
        with ProcessPoolExecutor(min(cores, len(items))) as pool:
            found = list(pool.map(careful, items))
    return [value for value, _ in found if value is not None], [why for _, why in found if why]


def _attempted(work: Callable[[S], T], item: S) -> tuple[T | None, str]:
    """What `work` returns, or the KBenchError that it raised in words."""
    with uncollected():
        try:
            return work(item), ""
        except KBenchError as error:
            return None, str(error)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector, which would walk over every record made so far again and again: half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def attempts_bytes(folder: Path) -> int:
    path = folder / ATTEMPTS
    return path.stat().st_size if path.exists() else 0


def boards(rows: Iterable[Row]) -> list[Board]:
    """One board a cell, the fullest first; in each the ranked rows by RANKED_BY overall, then the partial ones."""
    cells: dict[Cell, list[Row]] = {}
    for row in rows:
        cells.setdefault(row.cell, []).append(row)
    found = []
    for cell, members in cells.items():
        names = deciding(members)
        found.append(Board(cell, tuple(sorted(members, key=partial(order, names=names)))))
    return sorted(found, key=lambda board: (-len(board.rows), board.cell))


def deciding(rows: Sequence[Row]) -> tuple[str, ...]:
    """The metrics that rank these rows of one cell."""
    timed = any(value(row, METRIC[RANKED_BY[0]], None) is not None for row in rows)
    return RANKED_BY if timed else RANKED_BY_EAGER


def order(row: Row, names: Sequence[str] = RANKED_BY) -> tuple[object, ...]:
    values = [value(row, METRIC[name], None) for name in names]
    return (not row.ranked, *(float("inf") if v is None else -v for v in values), row.model, row.run_id)


def placed(board: Board, level: int | None) -> list[tuple[Row, Rank | None]]:
    """The board's rows that have this level, by their rank in it; those without a rank last."""
    found = ranks(board.rows, level)
    rows = [(row, found.get(row.folder)) for row in board.rows if row.level(level) is not None]
    return sorted(rows, key=lambda pair: (pair[1] is None, pair[1].place if pair[1] is not None else 0))


def value(row: Row, metric: Metric, level: int | None) -> float | None:
    found = estimate(row, metric, level)
    return None if found is None else found.value


def estimate(row: Row, metric: Metric, level: int | None) -> Estimate | None:
    summary = row.level(level)
    return None if summary is None else metric.figure(summary)


def ranks(rows: Sequence[Row], level: int | None) -> dict[str, Rank]:
    """Folder -> rank among the complete rows of a cell. A row without the deciding figure has none.

    Rows with equal figures share a place. A row may be better or worse than its place where its interval overlaps others'.
    """
    names = deciding(rows)
    first = METRIC[names[0]]
    known = [row for row in rows if row.ranked and value(row, first, level) is not None]
    keys = {row.folder: tuple(value(row, METRIC[name], level) or 0.0 for name in names) for row in known}
    found = {}
    for row in known:
        mine = estimate(row, first, level)
        bounds = mine.interval if mine is not None else None
        above = below = 0
        for other in known:
            theirs = estimate(other, first, level)
            if bounds is not None and theirs is not None and theirs.interval is not None:
                above += theirs.interval.low > bounds.high
                below += theirs.interval.high < bounds.low
        place = 1 + sum(key > keys[row.folder] for key in keys.values())
        found[row.folder] = Rank(place, 1 + above, len(known) - below)
    return found
