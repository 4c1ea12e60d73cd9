"""An agent's episode as lines of text: what it came to, and turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kbench.agent.outcome import best_so_far
from kbench.inert import inert
from kbench.types import AgentFacts, Snapshot, Verdict

SHOWN_CHARS = 600  # of a text, where all turns are shown


def facts_lines(facts: AgentFacts, verdict: Verdict | None) -> list[str]:
    calls = ", ".join(f"{count} {name}" for name, count in sorted(facts.tool_calls.items()))
    turns = f"{facts.turns} turns" if facts.turns else "of a program"
    lines = [
        f"  episode: {turns}, stop reason {facts.stop_reason}, reward {facts.reward}; {calls or 'no tool'}; "
        f"{facts.malformed_calls} malformed calls; contract {facts.contract}, network {facts.network}"
    ]
    for baseline in ("eager", "compile"):
        steps = best_so_far(facts.snapshots, baseline)
        if steps:
            told = ", ".join(f"{value:.3g}x at turn {s.turn} ({_spent(s)})" for s, value in steps)
            lines.append(f"  best so far over {baseline}: {told}")
    lines += [line for baseline in ("eager", "compile") if (line := _curse(facts, verdict, baseline))]
    changed = sorted({name for snapshot in facts.snapshots for name in snapshot.changed})
    return [*lines, *([f"  changed, and not used: {', '.join(changed)}"] if changed else [])]


def _spent(snapshot: Snapshot) -> str:
    tokens = f"{snapshot.tokens:,} tokens, " if snapshot.tokens is not None else ""
    return f"{tokens}{snapshot.seconds:.0f} s"


def _curse(facts: AgentFacts, verdict: Verdict | None, baseline: str) -> str | None:
    """Final, best in the trajectory, and that one timed again: what the maximum over noisy times had flattered."""
    if facts.chosen is None:
        return None
    best = facts.snapshots[facts.chosen].speedups.get(baseline)
    final = facts.snapshots[facts.final].speedups.get(baseline) if facts.final is not None else None
    timed = verdict.timing.speedup(baseline) if verdict is not None and verdict.timing is not None else None
    if best is None:
        return None
    parts = [f"final {final:.3g}x" if final is not None else "final none", f"best in trajectory {best:.3g}x"]
    if timed is not None:
        parts.append(f"timed again {timed.value:.3g}x ({timed.value / best - 1:+.1%})")
    return f"  over {baseline}: {', '.join(parts)}"


def told(events: Iterable[dict[str, Any]], turn: int | None) -> Iterator[str]:
    """The episode's lines; of one turn alone, and uncut, where `turn` (from 1) is given."""
    at = 0
    for event in events:
        at = event["turn"] + 1 if event["event"] == "reply" else at
        if turn is None or at == turn:
            yield from _lines(event, at, None if turn is not None else SHOWN_CHARS)


def _lines(event: dict[str, Any], turn: int, limit: int | None) -> Iterator[str]:
    match event["event"]:
        case "begin":
            yield f"task: {_cut(event['task'], limit)}"
        case "reply":
            yield f"---- turn {turn} ----"
            reply = event["reply"]
            if reply["thinking"]:
                yield f"(thinks) {_cut(reply['thinking'], limit)}"
            if reply["text"]:
                yield _cut(reply["text"], limit)
            for call in reply["calls"]:
                yield f"> {call['name']} {_cut(_plain(call['arguments']), limit)}"
        case "result":
            yield f"{'!' if event['failed'] else '<'} {event['name']}: {_cut(event['text'], limit)}"
        case "note":
            yield f"(we) {event['text']}"
        case "snapshot":
            shot = event["snapshot"]
            speeds = "".join(f", {value:.3g}x {name}" for name, value in shot["speedups"].items())
            yield f"* {shot['kind']}: {shot['status']}{speeds} ({shot['solution_hash'][:12]})"
        case "program":
            yield f"the program ended with {event['code']}: {_cut(event['text'], limit)}"
        case "end":
            yield f"---- end: {event['stop_reason']} ----"


def _plain(arguments: str) -> str:
    """Arguments with their line ends as line ends, where they are JSON."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return "\n  ".join(f"{name}: {text}" for name, text in value.items()) if isinstance(value, dict) else arguments


def _cut(text: str, limit: int | None) -> str:
    clean = inert(text)
    return clean if limit is None or len(clean) <= limit else f"{clean[:limit]} [... {len(clean) - limit} more]"
