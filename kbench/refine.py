"""Refinement: an attempt of several turns. The referee's word goes back to the model; the best verified solution is kept.

Each turn's verdict is kept in the run's folder, so that a resumed run says the same words again and pays for no reply twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kbench.artifacts import place_of
from kbench.codec import decode
from kbench.errors import SchemaError
from kbench.files import json_text
from kbench.models import Message, Reply, Request
from kbench.prompts import Result, feedback
from kbench.types import ReplyFacts, Solution, Status, Turn, Verdict

NO_WORDS = "(no text)"  # an empty message is refused by every provider
SUMMED = ("tokens_input", "tokens_output", "tokens_reasoning", "tokens_cached", "cost_usd", "latency_s", "retries")


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that is over. `verdict` is None where there was nothing to judge."""

    request: Request
    reply: Reply
    solution: Solution | None
    solution_hash: str | None
    status: Status
    verdict: Verdict | None

    @property
    def speedups(self) -> dict[str, float]:
        timing = self.verdict.timing if self.verdict is not None else None
        return {} if timing is None else {s.baseline: s.value for s in timing.speedups}

    def as_turn(self) -> Turn:
        note = self.reply.facts.note if self.reply.facts is not None else ""
        message = self.verdict.message if self.verdict is not None else note
        return Turn(self.status, message, self.solution_hash, self.speedups, self.reply.facts)


def best_of(turns: Sequence[Played]) -> Played:
    """The fastest correct one (over compile, else over eager); the last one where none is correct."""
    correct = [turn for turn in turns if turn.status is Status.CORRECT]
    return max(correct, key=_speed) if correct else turns[-1]


def _speed(turn: Played) -> float:
    return turn.speedups.get("compile", turn.speedups.get("eager", 0.0))


def picked_from_several(turns: Sequence[Played]) -> bool:
    """Whether the best is a maximum over noisy times, which flatters: then it is to be judged once more on its own."""
    return sum(turn.status is Status.CORRECT for turn in turns) > 1


def goes_on(turns: Sequence[Played], wanted: int) -> bool:
    """A refusal ends an attempt: asking again after it would be talking the model round."""
    return len(turns) < wanted and turns[-1].status not in (Status.REFUSED, Status.INFRA_ERROR)


def next_request(turns: Sequence[Played]) -> Request:
    last = turns[-1]
    note = last.reply.facts.note if last.reply.facts is not None else ""
    message = last.verdict.message if last.verdict is not None else ""
    words = feedback(Result(last.status, message, last.verdict, note, best_of(turns) is last))
    said = Message("assistant", last.reply.text if last.reply.text.strip() else NO_WORDS)
    messages = (*last.request.messages, said, Message("user", words))
    return replace(last.request, messages=messages, turn=last.request.turn + 1)


def facts_of(turns: Sequence[Played]) -> ReplyFacts | None:
    """Of the whole attempt: tokens, cost and time of all turns that were paid for now, the rest from the last."""
    facts = [turn.reply.facts for turn in turns if turn.reply.facts is not None]
    if not facts:
        return None
    fresh = [f for f in facts if not f.reused] or facts
    summed = {name: _total([getattr(f, name) for f in fresh]) for name in SUMMED}
    broken = sum(f.broken for f in fresh)
    return replace(facts[-1], broken=broken, reused=all(f.reused for f in facts), **summed)  # type: ignore[arg-type]


def _total(values: Sequence[float | int | None]) -> float | int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def verdict_name(turn: int) -> str:
    return f"verdict.{turn}.json"


def verdict_text(verdict: Verdict) -> str:
    return json_text(verdict) + "\n"


def read_verdict(folder: Path, request: Request) -> Verdict | None:
    """The verdict on a turn of an earlier session; None where there is none to go by."""
    path = place_of(folder, request.problem.id, request.sample) / verdict_name(request.turn)
    try:
        verdict = decode(Verdict, json.loads(path.read_bytes()))
    except (OSError, ValueError, SchemaError):
        return None
    return None if verdict.status is Status.INFRA_ERROR else verdict
