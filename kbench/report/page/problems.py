"""What the pages of problems are given: who solved what, and every attempt as columns for the script that builds the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbench.report.board import UNKNOWN
from kbench.report.page.digest import Attempt, PageRun, slugs
from kbench.report.page.views import times
from kbench.types import Status


@dataclass(frozen=True, slots=True)
class ProblemOnPage:
    """A problem with every attempt at it."""

    id: str
    slug: str
    attempts: tuple[tuple[PageRun, Attempt], ...]


def problem_table(runs: Sequence[PageRun]) -> list[ProblemOnPage]:
    """Every problem of every run, in the runs' order, with the slug that the digests used."""
    asked = list(dict.fromkeys(problem.id for run in runs for problem in run.row.summary.problems))
    attempts: dict[str, list[tuple[PageRun, Attempt]]] = {problem: [] for problem in asked}
    for run in runs:
        for attempt in run.attempts:
            attempts[attempt.problem].append((run, attempt))
    return [ProblemOnPage(p, slug, tuple(attempts[p])) for p, slug in zip(asked, slugs(asked), strict=True)]


def problem_row(problem: ProblemOnPage) -> dict[str, Any]:
    tried = {run.slug for run, _ in problem.attempts}
    solved = {run.slug for run, a in problem.attempts if a.status == Status.CORRECT}
    counts = Counter(a.status for _, a in problem.attempts)
    scored = sum(n for status, n in counts.items() if status not in (Status.INFRA_ERROR, "not run"))
    share = counts[Status.CORRECT] / scored if scored else None
    timed = [
        (b[0], run.row.model)
        for run, a in problem.attempts
        if (b := a.speedups[1]) is not None and not run.row.baseline
    ]
    best = max(timed, default=None)
    return {
        "id": problem.id, "slug": problem.slug, "solved": len(solved), "runs": len(tried),
        "share": UNKNOWN if share is None else f"{share:.0%}", "share_value": "" if share is None else share,
        "best": times(best[0] if best else None), "best_value": best[0] if best else "", "by": best[1] if best else "",
    }  # fmt: skip


def problem_page(problem: ProblemOnPage) -> dict[str, Any]:
    return {
        "id": problem.id, "slug": problem.slug, "attempts": len(problem.attempts), "runs": len({run.slug for run, _ in problem.attempts}),
        "correct": sum(a.status == Status.CORRECT for _, a in problem.attempts),
    }  # fmt: skip


def attempts_data(problem: ProblemOnPage) -> dict[str, Any]:
    """Columns for the script: [run, sample, status, eager, compile, microseconds, language, message], the fastest first."""
    runs = {run.slug: run for run, _ in problem.attempts}
    index = {slug: i for i, slug in enumerate(runs)}
    several_cells = len({run.row.cell for run in runs.values()}) > 1

    def speed(entry: tuple[PageRun, Attempt]) -> tuple[bool, float]:
        bounds = entry[1].speedups[1] or entry[1].speedups[0]
        return entry[1].status != Status.CORRECT, -(bounds[0] if bounds else 0.0)

    return {
        "slug": problem.slug,
        "several": any(attempt.sample for _, attempt in problem.attempts),
        "runs": [[run.row.model, slug, run.row.cell.device if several_cells else ""] for slug, run in runs.items()],
        "attempts": [
            [index[run.slug], a.sample, a.status, a.speedups[0], a.speedups[1], a.latency_us, a.language, a.message]
            for run, a in sorted(problem.attempts, key=speed)
        ],
    }  # fmt: skip
