"""What the templates are given: figures as text and as numbers for sorting and bars. No markup is made here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbench.aggregate import BASELINES
from kbench.cell import Cell
from kbench.leaderboard import METRIC, Board, Metric, Row, estimate, ranks
from kbench.reference_rows import SCOPES, Source
from kbench.report.board import UNKNOWN, money, rank_text, scope_name, tokens
from kbench.report.page.digest import PageRun
from kbench.summary import Estimate
from kbench.types import Status

SHOWN = (
    "pass_rate",
    "faster_compile",
    "surely_faster_compile",
    "geomean_vs_compile",
    "faster_eager",
    "geomean_vs_eager",
)
COLUMNS = (
    {"name": "rank", "title": "rank", "sort": "ascending", "text": False},
    {"name": "model", "title": "model", "sort": "ascending", "text": True},
    *({"name": name, "title": METRIC[name].title, "sort": "descending", "text": False} for name in SHOWN),
    {"name": "refused", "title": "refused", "sort": "ascending", "text": False},
    {"name": "cost", "title": "$ / solved", "sort": "ascending", "text": False},
    {"name": "tokens", "title": "tokens / solved", "sort": "ascending", "text": False},
)
PUBLISHED_COLUMNS = ("pass rate", "faster than eager", "faster than compile", "over eager", "over compile")
RATIO_SPAN = (0.25, 4.0)  # of the little bars; what lies beyond stands at the edge


@dataclass(frozen=True, slots=True)
class Plot:
    id: str
    caption: str


def columns(runs: Sequence[PageRun]) -> list[dict[str, Any]]:
    """The columns of which at least one run knows something: no cost where no model was paid, no interval under quick."""
    rows = [run.row for run in runs]
    known = {name for name in SHOWN if any_value(rows, name)} | {
        "rank",
        "model",
        "refused",
        "pass_rate",
        "faster_compile",
    }
    known |= {"cost"} if any(row.cost_per_solved_usd is not None for row in rows) else set()
    known |= {"tokens"} if any(row.tokens_per_solved is not None for row in rows) else set()
    return [column for column in COLUMNS if column["name"] in known]


def title(metric: str) -> str:
    return METRIC[metric].title


def any_value(rows: Sequence[Row], metric: str) -> bool:
    return any((e := estimate(row, METRIC[metric], None)) is not None and e.value is not None for row in rows)


def level_choices(levels: Sequence[int]) -> list[dict[str, str]]:
    return [{"name": "overall", "title": "all levels"}] + [{"name": f"level{n}", "title": f"level {n}"} for n in levels]


# ---- figures ---------------------------------------------------------------------------------------------------------


def figure(metric: Metric, found: Estimate | None) -> dict[str, Any]:
    """A figure with its interval; `value` None shows as "-"."""
    view: dict[str, Any] = {
        "title": metric.title,
        "rate": metric.rate,
        "value": None,
        "text": UNKNOWN,
        "span": "",
        "note": "",
    }
    if found is None or found.value is None:
        return view
    bounds, note = found.interval, found.note
    low, high = (bounds.low, bounds.high) if bounds is not None else (None, None)
    view |= {"value": found.value, "low": low, "high": high, "note": note}
    if metric.rate:
        view |= {
            "text": f"{found.value:.1%}",
            "span": f"{low * 100:.0f}-{high * 100:.0f} %" if bounds and low is not None and high is not None else "",
        }
        return view
    view |= {
        "text": f"{found.value:.2f}x",
        "x": _place(found.value),
        "one_x": _place(1.0),
        "low_x": None,
        "high_x": None,
    }
    if low is not None and high is not None:
        view |= {"span": f"{low:.2f}-{high:.2f}x", "low_x": _place(low), "high_x": _place(high)}
    return view


def _place(ratio: float) -> float:
    """0 to 98 along a logarithmic bar."""
    low, high = (math.log(bound) for bound in RATIO_SPAN)
    return 98 * min(1.0, max(0.0, (math.log(max(ratio, 1e-9)) - low) / (high - low)))


def chips(cell: Cell) -> list[str]:
    return [
        cell.precision, f"{cell.shapes} shapes", f"{cell.protocol} protocol", f"{cell.policy} policy", f"kbench {cell.kbench}",
        f"problems {cell.suite[:8]}",
    ]  # fmt: skip


def endings(statuses: dict[str, int]) -> tuple[list[dict[str, Any]], int]:
    """Parts of a bar of 1000, in the order of Status."""
    total = sum(statuses.values())
    parts, x = [], 0.0
    for status in [Status.CORRECT, *(s for s in Status if s is not Status.CORRECT)]:
        count = statuses.get(status, 0)
        if count:
            width = 1000 * count / total
            parts.append(
                {"name": str(status).replace("_", " "), "css": str(status), "count": count, "x": x, "width": width}
            )
            x += width
    return parts, total


# ---- the index -------------------------------------------------------------------------------------------------------


def board(key: str, board: Board, runs: Sequence[PageRun], plots: list[Plot], names: frozenset[str]) -> dict[str, Any]:
    several = len(board.levels) > 2
    levels = [None, *(level for level in board.levels if level is not None)] if several else [None, board.levels[0]]
    shown_endings = []
    for run in runs:
        parts, total = endings(run.row.summary.overall.statuses)
        shown_endings.append({"slug": run.slug, "model": run.row.model, "parts": parts, "total": total})
    return {
        "id": key, "device": board.cell.device,
        "short": f"{board.cell.device}, {board.cell.precision}, {board.cell.protocol}, {board.cell.shapes}",
        "chips": chips(board.cell), "tables": [_ranking(board, runs, level, names) for level in levels],
        "endings": shown_endings, "plots": plots,
    }  # fmt: skip


def _ranking(board: Board, runs: Sequence[PageRun], level: int | None, names: frozenset[str]) -> dict[str, Any]:
    placed = ranks(board.rows, level)
    rows = []
    for run in runs:
        row = run.row
        summary = row.level(level)
        if summary is None:
            continue
        rank = placed.get(row.folder)
        refused = summary.refusal_rate.value
        rows.append({
            "slug": run.slug, "model": row.model, "run_id": row.run_id, "ranked": row.ranked,
            "baseline": row.baseline, "caveats": row.caveats,
            "find": f"{row.model} {row.run_id}".lower(), "rank": rank_text(rank), "place": rank.place if rank else "",
            "figures": [figure(METRIC[name], estimate(row, METRIC[name], level)) for name in SHOWN if name in names],
            "refused": UNKNOWN if refused is None else f"{refused:.1%}", "refused_value": "" if refused is None else refused,
            "cost": money(row), "cost_value": row.cost_per_solved_usd or "",
            "tokens": tokens(row), "tokens_value": row.tokens_per_solved or "",
        })  # fmt: skip
    rows.sort(key=lambda row: (row["place"] == "", row["place"] or 0))
    problems = max((s.problems for run in runs if (s := run.row.level(level)) is not None), default=0)
    return {
        "level": scope_name(level),
        "title": "all levels" if level is None else f"level {level}",
        "problems": problems,
        "rows": rows,
    }


def source(found: Source) -> dict[str, Any]:
    rows = []
    for row in found.rows:
        remark = row.table + (f"; {row.note}" if row.note else "")
        if not row.scopes:
            rows.append(
                {
                    "model": row.model,
                    "scope": UNKNOWN,
                    "key": "",
                    "cells": [_published(None, True)] * 5,
                    "remark": remark,
                }
            )
        for scope in SCOPES:
            if scope in row.scopes:
                f = row.scopes[scope]
                values = [_published(v, True) for v in (f.pass_rate, f.faster_eager, f.faster_compile)]
                values += [_published(v, False) for v in (f.geomean_vs_eager, f.geomean_vs_compile)]
                rows.append(
                    {
                        "model": row.model,
                        "scope": scope.replace("level", "level "),
                        "key": scope,
                        "cells": values,
                        "remark": remark,
                    }
                )
    head = {"id": found.id, "title": found.title, "date": found.date, "url": found.url, "conditions": found.conditions}
    return {**head, "rows": rows}


def _published(value: float | None, rate: bool) -> dict[str, Any]:
    if value is None:
        return {"value": "", "text": UNKNOWN}
    return {"value": value, "text": f"{value:.1%}" if rate else f"{value:.2f}x"}


# ---- a model ---------------------------------------------------------------------------------------------------------


def model_page(run: PageRun, slug_of: dict[str, str]) -> dict[str, Any]:
    row, summary = run.row, run.row.summary
    parts, total = endings(summary.overall.statuses)
    levels = [
        {"title": "all levels" if level.level is None else f"level {level.level}", "problems": level.problems,
         "figures": [figure(METRIC[name], METRIC[name].figure(level)) for name in SHOWN]}
        for level in (*summary.levels, summary.overall)
    ]  # fmt: skip
    return {
        "r": {"model": row.model, "run_id": row.run_id, "created": row.created}, "device": row.cell.device, "chips": chips(row.cell),
        "caveats": row.caveats, "baseline": row.baseline, "levels": levels, "samples": summary.samples, "ks": _ks(row),
        "parts": parts, "total": total, "facts": list(_facts(row).items()), "problems": _problems(run, slug_of),
    }  # fmt: skip


def _ks(row: Row) -> list[dict[str, str]]:
    overall = row.summary.overall
    found = []
    for k, passes in overall.pass_at_k.items():
        best = overall.baselines["compile"].best_at_k.get(k)
        found.append({
            "k": k, "passes": UNKNOWN if passes.value is None else f"{passes.value:.1%}", "note": passes.note,
            "best": UNKNOWN if best is None or best.value is None else f"{best.value:.2f}x",
        })  # fmt: skip
    return found


def _facts(row: Row) -> dict[str, str]:
    usage = row.summary.overall.usage
    facts = {
        "solved problems": str(row.solved), "cost": UNKNOWN if usage.cost_usd is None else f"${usage.cost_usd:.2f}",
        "cost a solved problem": money(row), "tokens a solved problem": tokens(row),
        "wall time": UNKNOWN if usage.wall_time_s is None else f"{usage.wall_time_s / 60:.1f} min",
        "sandbox": ", ".join(f"{name} ({n})" for name, n in row.sandboxes.items()) or UNKNOWN,
    }  # fmt: skip
    for baseline in BASELINES:
        by_level = row.summary.overall.baselines[baseline].geomean_by_level
        if by_level is not None and by_level.value is not None:
            facts[f"speed-up over {baseline}, levels weighed by their problems"] = f"{by_level.value:.2f}x"
    return facts


def _problems(run: PageRun, slug_of: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for problem in run.row.summary.problems:
        best = [problem.best_speedup.get(baseline) for baseline in BASELINES]
        ended = (
            problem.not_run
            or ", ".join(f"{n} {s}" if n > 1 else s for s, n in problem.statuses.items())
            or "no attempt"
        )
        rows.append({
            "id": problem.id, "slug": slug_of[problem.id], "correct": problem.correct, "scored": problem.scored,
            "ended": ended.replace("_", " "),
            "eager": times(best[0]), "eager_value": best[0] or "", "compile": times(best[1]), "compile_value": best[1] or "",
        })  # fmt: skip
    return rows


def times(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}x"
