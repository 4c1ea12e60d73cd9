"""What a run took: tokens, money and wall time, attempts made again included."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kbench.errors import SchemaError
from kbench.summary import Usage
from kbench.types import Record


def usage(records: Sequence[Record], level: int | None) -> Usage:
    ours = [record for record in records if level in (None, record.level)]
    replies = [record.reply for record in ours if record.reply is not None and not record.reply.reused]

    def total(name: str) -> Any:
        amounts = [getattr(reply, name) for reply in replies]
        return None if not amounts or None in amounts else sum(amounts)

    return Usage(
        tokens_input=total("tokens_input"),
        tokens_output=total("tokens_output"),
        tokens_reasoning=total("tokens_reasoning"),
        tokens_cached=total("tokens_cached"),
        cost_usd=total("cost_usd"),
        wall_time_s=_covered_seconds([_span(record) for record in ours]) if ours else None,
    )


def _span(record: Record) -> tuple[float, float]:
    try:
        started, ended = (datetime.fromisoformat(text) for text in (record.started, record.ended))
    except ValueError as error:
        raise SchemaError(f"attempt {record.key}: {error}") from error
    if started.tzinfo is None or ended.tzinfo is None:
        raise SchemaError(f"attempt {record.key}: started or ended has no offset from UTC")
    return started.timestamp(), ended.timestamp()


def _covered_seconds(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of these intervals."""
    covered, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered
