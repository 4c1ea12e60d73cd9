"""One run made ready for the page: its row, its attempts in a few columns, and its details as files of their own.

Runs in a worker process where there is much to read, so that only what every page needs travels back.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kbench.aggregate import BASELINES
from kbench.files import read_plain
from kbench.inert import one_line
from kbench.leaderboard import Row, row_of
from kbench.source import source_hash
from kbench.store import latest, load
from kbench.types import Record, Speedup, Status, Verdict

CODE_LIMIT = 200_000  # characters of a solution or a log that a page carries
Bounds = tuple[float, float | None, float | None]  # speed-up, and its interval where there is one


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the tables show of an attempt. Everything in it is a number, or text that no table trusts."""

    problem: str
    sample: int
    status: str
    speedups: tuple[Bounds | None, Bounds | None]  # over eager, over compile
    latency_us: float | None
    language: str
    message: str


@dataclass(frozen=True, slots=True)
class PageRun:
    row: Row
    slug: str
    attempts: tuple[Attempt, ...]

    def log_speedups(self, baseline: str) -> list[float]:
        """Of correct and timed attempts."""
        index = BASELINES.index(baseline)
        return [math.log(bounds[0]) for a in self.attempts if (bounds := a.speedups[index]) is not None]


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is told: read this run, call it that, leave its details there."""

    folder: Path
    slug: str
    target: Path
    problem_slugs: dict[str, str]


def digest(order: Order) -> PageRun:
    run = load(order.folder, raw_samples=False)
    records = latest(run.records)
    of_problem: dict[str, list[Record]] = {}
    for record in records:
        of_problem.setdefault(record.problem_id, []).append(record)
    folder = order.target / "data" / "details" / order.slug
    folder.mkdir(parents=True, exist_ok=True)
    for problem, members in of_problem.items():
        key = f"{order.slug}/{order.problem_slugs[problem]}"
        body = [details(record, order.folder) for record in members]
        write_script(folder / f"{order.problem_slugs[problem]}.js", "kbenchDetails", key, body)
    return PageRun(row_of(order.folder, run.info, run.records), order.slug, tuple(attempt(r) for r in records))


def attempt(record: Record) -> Attempt:
    verdict = record.verdict
    timing = verdict.timing if verdict is not None else None
    correct = record.status is Status.CORRECT
    found = [timing.speedup(b) if timing is not None and correct else None for b in BASELINES]
    return Attempt(
        problem=record.problem_id,
        sample=record.sample,
        status=str(record.status) if record.status is not None else "not run",
        speedups=(_bounds(found[0]), _bounds(found[1])),
        latency_us=timing.latency_us.get("candidate") if timing is not None else None,
        language=record.language,
        message=one_line(record.not_run or (verdict.message if verdict is not None else "")),
    )


def _bounds(speedup: Speedup | None) -> Bounds | None:
    if speedup is None:
        return None
    interval = speedup.interval
    if interval is None:
        return (speedup.value, None, None)
    return (speedup.value, interval.low, interval.high if math.isfinite(interval.high) else None)


def details(record: Record, folder: Path) -> dict[str, Any]:
    """What is shown when an attempt is opened: each gate's evidence, error figures, the first wrong element, code, log."""
    verdict = record.verdict
    artifacts = _own_place(record, folder)
    return {
        "sample": record.sample,
        "facts": dict(_facts(record)),
        "gates": [[g.name, g.passed, g.evidence] for g in verdict.gates] if verdict is not None else [],
        "errors": _errors(verdict),
        "log": (verdict.detail[:CODE_LIMIT] if verdict is not None else "") or None,
        "code": _judged_code(record, f"{artifacts}/solution.py"),
        "reply": _text(f"{artifacts}/reply.txt") if record.status is Status.REFUSED else None,
    }


def _own_place(record: Record, folder: Path) -> str:
    """The attempt's folder; where it or one above it is a link, which would lead out of the run, a folder that is not there."""
    places = [f"{folder}/artifacts"]
    for part in (*record.problem_id.split("/"), str(record.sample)):
        places.append(f"{places[-1]}/{part}")
    return os.devnull if any(map(_is_link, places)) else places[-1]


@lru_cache(maxsize=4096)
def _is_link(path: str) -> bool:
    return os.path.islink(path)


def _judged_code(record: Record, path: str) -> str | None:
    """The stored solution, if it is the one that was judged; else a line that says so."""
    data = read_plain(path)
    if data is None:
        return None
    if source_hash(data.decode("utf-8", "surrogateescape")) != record.solution_hash:
        return "# The stored solution is not the one that was judged."
    return data[:CODE_LIMIT].decode("utf-8", "replace")


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    verdict, reply = record.verdict, record.reply
    yield "from", record.origin
    if verdict is not None:
        yield "protocol, sandbox", f"{verdict.protocol or '?'}, {verdict.sandbox or '?'}"
        yield "calls made, checked", f"{verdict.calls_made}, {verdict.calls_checked}"
        if verdict.build_seconds is not None:
            yield "build", f"{verdict.build_seconds:.1f} s"
        if verdict.timing is not None and verdict.timing.flags:
            yield "timing", ", ".join(verdict.timing.flags)
    if reply is not None:
        yield "model", reply.model
        if reply.tokens_output is not None:
            yield "tokens out", f"{reply.tokens_output:,}"
        if reply.cost_usd is not None:
            yield "cost", f"${reply.cost_usd:.4g}"
    if record.solution_hash:
        yield "sha256", record.solution_hash[:16]


def _errors(verdict: Verdict | None) -> list[list[str]]:
    if verdict is None:
        return []
    rows = [[e.metric, f"{e.candidate:.3g}", f"{e.eager:.3g}", f"{e.budget:.3g}"] for e in verdict.errors]
    wrong = verdict.mismatch
    if wrong is not None:
        where = f"{wrong.output}{list(wrong.index)}"
        rows.append([f"first wrong element: {where}", f"{wrong.actual:.6g}", f"expected {wrong.expected:.6g}",
                     f"{wrong.wrong_elements} of {wrong.total_elements} wrong"])  # fmt: skip
    return rows


def _text(path: str) -> str | None:
    data = read_plain(path, CODE_LIMIT)
    return None if data is None else data.decode("utf-8", "replace")


def write_script(path: Path, function: str, key: str, value: Any) -> None:
    """A call with JSON arguments: what a page opened from disk can load, where fetch() cannot.

    ASCII JSON is a literal of JavaScript, and nothing in it can end the script: it is a file, not an element. Not synced to the
    disk: a page is made again in seconds, and ten thousand files are not synced in that time.
    """
    path.write_text(f"{function}({json.dumps(key)},{json.dumps(value, separators=(',', ':'))});\n", encoding="ascii")


def fast_share(run: PageRun, baseline: str, at: Sequence[float]) -> list[float]:
    """fast_p at each p: mean over problems of the share of scored attempts that are correct and faster by more than p."""
    index = BASELINES.index(baseline)
    scored: dict[str, int] = {}
    for a in run.attempts:
        if a.status not in (Status.INFRA_ERROR, "not run"):
            scored[a.problem] = scored.get(a.problem, 0) + 1
    weighted = sorted((b[0], 1 / scored[a.problem]) for a in run.attempts if (b := a.speedups[index]) is not None)
    shares, remaining, i = [], math.fsum(w for _, w in weighted), 0
    for p in at:
        while i < len(weighted) and weighted[i][0] <= p:
            remaining -= weighted[i][1]
            i += 1
        shares.append(max(0.0, remaining) / len(scored) if scored else 0.0)
    return shares


def slugs(names: Iterable[str]) -> list[str]:
    """A file name for each name, of letters, digits, dots, dashes; different names never share one."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80] or "run"
        slug, n = base, 2
        while slug.lower() in taken:
            slug, n = f"{base}-{n}", n + 1
        taken.add(slug.lower())
        found.append(slug)
    return found
