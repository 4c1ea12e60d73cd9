"""Re-derives what a run says from what it measured, and names every difference. Trusts nothing but the raw samples.

A run that someone sends in is data of a stranger: nothing of it is executed here, but for `rejudge`, which judges its
solutions as it would any candidate's, in the sandbox.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from kbench import aggregate, registry
from kbench.codec import encode
from kbench.errors import KBenchError
from kbench.files import read_plain
from kbench.leaderboard import FULL_SANDBOX
from kbench.referee import clock
from kbench.referee.case import GATES, PROTOCOLS, Calibration, Protocol
from kbench.rejudge import settings_of
from kbench.source import source_hash
from kbench.store import Run, latest, load
from kbench.summary import read_summary
from kbench.types import Record, RunInfo, Status, Timing, Verdict

TOLERANCE = 1e-9


def findings(folder: Path, suite: Path | None = None) -> list[str]:
    """One line a difference; empty where the run holds. ConfigError or SchemaError where it cannot be read at all."""
    run = load(folder)
    again = aggregate.summarise(run.records, list(run.info.problems), run.info.samples)
    found = [
        *(line for record in latest(run.records) for line in of_record(record, folder)),
        *of_protocol(run),
        *of_measuring(run),
        *of_attempts(run),
        *of_problems(run.info, suite),
    ]
    try:
        found += differences("summary", encode(read_summary(folder)), encode(again))
    except KBenchError as error:
        found.append(str(error))
    if not again.complete:
        found.append(
            f"the run is not complete: {len(again.incomplete)} infrastructure errors, {len(again.missing)} missing"
        )
    return found


def of_record(record: Record, folder: Path) -> Iterator[str]:
    verdict = record.verdict
    if verdict is None:
        return
    if record.status is Status.CORRECT and not all(gate.passed for gate in verdict.gates):
        yield f"{record.key}: correct although a gate gave no evidence"
    yield from of_solution(record, folder)
    if verdict.timing is not None:
        yield from (f"{record.key}: {line}" for line in of_timing(verdict.timing, verdict.device))


def of_solution(record: Record, folder: Path) -> Iterator[str]:
    if record.solution_hash is None:
        return
    path = folder / "artifacts" / record.problem_id / str(record.sample) / "solution.py"
    data = read_plain(path)
    if data is None:
        yield f"{record.key}: the solution that was judged is not stored"
    elif source_hash(data.decode("utf-8", "surrogateescape")) != record.solution_hash:
        yield f"{record.key}: the stored solution is not the one that was judged"


def of_timing(timing: Timing, device: str) -> Iterator[str]:
    """Times and speed-ups against the raw blocks; an interval must lie round its speed-up."""
    baselines = [speedup.baseline for speedup in timing.speedups]
    if not timing.samples:
        yield "its raw samples are missing"
        return
    try:
        again = clock.assess(timing.samples, baselines, Calibration(), interval=False, device=device)
    except (ValueError, ArithmeticError) as error:
        yield f"its samples give no time: {error}"
        return
    for what, stored, given in (
        ("a call", timing.latency_us, again.latency_us),
        ("a call alone", timing.single_call_us, again.single_call_us),
    ):
        for side, before in stored.items():
            after = given.get(side)
            if after is None or not math.isclose(before, after, rel_tol=TOLERANCE):
                told = "nothing" if after is None else f"{after:.6g}"
                yield f"{before:.6g} us for {what} of {side} is stored, its samples give {told}"
    derived = {speedup.baseline: speedup.value for speedup in again.speedups}
    for speedup in timing.speedups:
        value = derived.get(speedup.baseline)
        if value is None or not math.isclose(speedup.value, value, rel_tol=TOLERANCE):
            said = "nothing" if value is None else f"{value:.6g}x"
            yield f"{speedup.value:.6g}x {speedup.baseline} is stored, its samples give {said}"
        bounds = speedup.interval
        if bounds is not None and not math.isclose(math.sqrt(bounds.low * bounds.high), speedup.value, rel_tol=1e-6):
            yield f"the interval {bounds.low:.6g}-{bounds.high:.6g} does not lie round {speedup.value:.6g}x {speedup.baseline}"


def of_protocol(run: Run) -> Iterator[str]:
    """The protocol that was recorded is the one of that name, every verdict was reached under it, in a full sandbox."""
    name = str(run.info.protocol.get("name"))
    known = PROTOCOLS.get(name)
    if known is None:
        yield f"protocol {name!r} is none of this kbench's: {', '.join(PROTOCOLS)}"
    else:
        yield from differences("protocol", run.info.protocol, encode(known))
    verdicts = [(record.key, record.verdict) for record in latest(run.records) if record.verdict is not None]
    yield from _each(
        (key for key, verdict in verdicts if verdict.protocol and verdict.protocol != name), f"not judged under {name}"
    )
    weak = [
        (key, verdict.sandbox) for key, verdict in verdicts if _ran(verdict) and verdict.sandbox not in FULL_SANDBOX
    ]
    for rung in dict.fromkeys(sandbox for _, sandbox in weak):
        yield from _each(
            (key for key, sandbox in weak if sandbox == rung),
            f"judged in sandbox {rung or 'none'!s}, below the full one",
        )
    device = str(run.info.config.get("device", ""))
    yield from _each(
        (key for key, v in verdicts if v.device and device and v.device != device), f"not judged on {device}"
    )
    yield from _each(
        (r.key for r in latest(run.records) if r.run_id != run.info.run_id), f"not of run {run.info.run_id}"
    )


def of_measuring(run: Run) -> Iterator[str]:
    """A correct attempt passed every gate, has all the blocks that its protocol times, and every baseline that was asked for
    or the reason why there is none."""
    known = PROTOCOLS.get(str(run.info.protocol.get("name")))
    asked = settings_of(run.info.config).baselines
    for record in latest(run.records):
        verdict = record.verdict
        if known is None or verdict is None or record.status is not Status.CORRECT:
            continue
        silent = [name for name in GATES if name not in {gate.name for gate in verdict.gates}]
        if silent:
            yield f"{record.key}: correct without a word from {', '.join(silent)}"
        if verdict.timing is None:
            yield f"{record.key}: correct, and not timed"
            continue
        timed = {speedup.baseline for speedup in verdict.timing.speedups}
        for baseline in asked:
            if baseline not in timed and not any(f.startswith(f"no {baseline} baseline") for f in verdict.timing.flags):
                yield f"{record.key}: not timed against {baseline}, and nothing says why"
        if verdict.timing.samples:
            yield from (f"{record.key}: {line}" for line in _of_blocks(verdict.timing, known, timed))


def _of_blocks(timing: Timing, protocol: Protocol, baselines: Iterable[str]) -> Iterator[str]:
    """Whether the blocks are all there; what is left out may be what was slow."""
    pairs = sorted({sample.pair for sample in timing.samples})
    if pairs[: protocol.pairs] != list(range(protocol.pairs)):
        yield f"blocks of pairs {pairs}; {protocol.name} times {protocol.pairs}"
    for pair in pairs:
        counts = {
            side: Counter(s.k for s in timing.samples if s.side == side and s.pair == pair and s.k)
            for side in ("candidate", *sorted(baselines))
        }
        calls = sorted(counts["candidate"])
        least = len(protocol.timed_rounds(calls[calls[:1] == [1] :])) if calls else 1
        if any(count != counts["candidate"] for count in counts.values()):
            yield f"its sides do not have the same blocks in pair {pair}"
        elif counts["candidate"].total() < least:
            yield f"{counts['candidate'].total()} blocks a side in pair {pair}; {protocol.name} times {least} at least"


def of_attempts(run: Run) -> Iterator[str]:
    """What no run of kbench writes: attempts that nobody asked for, made anew after a verdict, or without what they rest on."""
    asked, last = run.info.samples, latest(run.records)
    if asked < 1 or not run.info.problems:
        yield f"{asked} samples of {len(run.info.problems)} problems: a run asks for one of one at least"
    yield from _each((r.key for r in last if not 0 <= r.sample < asked), f"no sample of a run of {asked}")
    yield from _each(
        (r.key for r in last if r.solution_hash is None and r.verdict is not None and _ran(r.verdict)),
        "judged, and no solution stands on record",
    )
    final = {record.key: record for record in last}
    yield from _each(
        (r.key for r in run.records if r is not final[r.key] and _refused(r) and final[r.key].status is Status.CORRECT),
        "correct after a verdict that it was not",
    )
    known = PROTOCOLS.get(str(run.info.protocol.get("name")))
    if known is not None and not known.interval:
        told = (r.key for r in last for timing in _timings(r) if any(s.interval is not None for s in timing.speedups))
        yield from _each(told, f"an interval, which {known.name} has none of")
    if len({record.exempt for record in last}) > 1:
        yield from _each((r.key for r in last if r.exempt), "a baseline's attempt among a model's")


def _refused(record: Record) -> bool:
    return record.verdict is not None and record.settled and record.status is not Status.CORRECT


def _timings(record: Record) -> Iterator[Timing]:
    if record.verdict is not None and record.verdict.timing is not None:
        yield record.verdict.timing


def _ran(verdict: Verdict) -> bool:
    return verdict.status is not Status.INFRA_ERROR and bool(verdict.gates)


def _each(keys: Iterable[str], what: str) -> Iterator[str]:
    """One line for all attempts of which the same is to be said."""
    named = list(keys)
    if named:
        more = f" and {len(named) - 4} more" if len(named) > 4 else ""
        yield f"{', '.join(named[:4])}{more}: {what}"


def of_problems(info: RunInfo, suite: Path | None) -> Iterator[str]:
    """The suite's hash against its problems', and, where the suite is at hand, those against the problems' text. ConfigError
    where `suite` is given and cannot be read."""
    lines = sorted(f"{problem} {content_hash}\n" for problem, content_hash in info.problems.items())
    if hashlib.sha256("".join(lines).encode()).hexdigest() != info.suite_hash:
        yield f"suite hash {info.suite_hash[:12]} is not that of the problems listed"
    try:
        there = {problem.id: problem.content_hash for problem in registry.discover(suite)}
    except KBenchError:
        if suite is not None:
            raise
        return
    for problem, content_hash in info.problems.items():
        if problem in there and there[problem] != content_hash:
            yield f"{problem}: the problem has changed since"


def differences(path: str, stored: object, again: object) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in sorted(stored.keys() | again.keys()):
            yield from differences(f"{path}.{key}", stored.get(key), again.get(key))
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for i, (before, after) in enumerate(zip(stored, again, strict=True)):
            yield from differences(f"{path}[{i}]", before, after)
    elif stored != again and not (
        isinstance(stored, float) and isinstance(again, float) and math.isclose(stored, again, rel_tol=TOLERANCE)
    ):
        yield f"{path}: {stored!r} is stored, the records give {again!r}"
