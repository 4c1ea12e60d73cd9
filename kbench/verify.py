"""Re-derives what a run says from what it measured, and names every difference. Trusts nothing but the raw samples.

A run that someone sends in is data of a stranger: nothing of it is executed here, but for `rejudge`, which judges its
solutions as it would any candidate's, in the sandbox.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kbench import aggregate, registry
from kbench.artifacts import SOLUTION, judged_source, place_of
from kbench.cell import suite_hash_of
from kbench.codec import encode
from kbench.errors import KBenchError, SchemaError
from kbench.leaderboard import FULL_SANDBOX
from kbench.referee import clock
from kbench.referee.case import GATES, PROTOCOLS, Calibration, Protocol
from kbench.rejudge import settings_of
from kbench.store import Run, latest, load
from kbench.summary import read_summary
from kbench.types import POLICIES, Record, RunInfo, Status, Timing, Verdict

TOLERANCE = 1e-9
DISPROVED = (Status.INCORRECT, Status.TAMPER, Status.TIMING_INVALID, Status.POLICY)
DERIVED_FLAGS = {"noisy", "slower_alone", "latency_bound"}
# Under it no spread between pairs is too wide: how wide it may be is known to the machine alone that was calibrated.
LENIENT = Calibration(dict.fromkeys(clock.CLASSES, 1e3), dict.fromkeys(clock.CLASSES, 1))
CLOCK_COUNT = re.compile(r"(\d+) blocks of ")  # as judging.clock_gate says it
POLICY_WORD = re.compile(r"(any|custom|pure)[;:]")


def findings(folder: Path, suite: Path | None = None) -> list[str]:
    """One line a difference; empty where the run holds. ConfigError or SchemaError where it cannot be read at all."""
    run = load(folder)
    again = aggregate.summarise(run.records, list(run.info.problems), run.info.samples)
    found = [
        *(line for record in latest(run.records) for line in of_record(record, folder)),
        *of_config(run.info),
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
    yield from of_evidence(record, folder)
    verdict = record.verdict
    if verdict is None:
        return
    yield from of_solution(record, folder)
    if verdict.timing is not None:
        yield from (f"{record.key}: {line}" for line in of_timing(verdict.timing, verdict.device))


def of_evidence(record: Record, folder: Path) -> Iterator[str]:
    """Whether a status is one that its own evidence leads to."""
    key, status, verdict = record.key, record.status, record.verdict
    judged = (
        record.solution_hash is not None or (place_of(folder, record.problem_id, record.sample) / SOLUTION).exists()
    )
    if record.not_run is not None and judged:
        yield f"{key}: said to be too large for the device, and a solution of it is stored"
    if status in (Status.REFUSED, Status.NO_CODE) and (verdict is not None or record.solution_hash is not None):
        yield f"{key}: {status}, and a solution of it was judged"
    if record.exempt != record.origin.startswith("builtin/"):
        yield f"{key}: comes from {record.origin or 'nowhere'}, and is {'' if record.exempt else 'not '}said to be a baseline"
    if verdict is None:
        return
    if status is Status.CORRECT and not all(gate.passed for gate in verdict.gates):
        yield f"{key}: correct although a gate gave no evidence"
    if status in DISPROVED and verdict.gates and all(gate.passed for gate in verdict.gates):
        yield f"{key}: {status}, and every gate passed"
    if status is Status.CORRECT and verdict.mismatch is not None:
        yield f"{key}: correct, and a wrong element stands beside it"
    if status is Status.CORRECT and any(not figure.candidate <= figure.budget for figure in verdict.errors):
        yield f"{key}: correct, and its error is above the budget"
    if status is Status.CORRECT and (verdict.message or verdict.calls_checked < 1):
        yield f"{key}: correct, and {verdict.message or 'no call was checked'}"
    if not 0 <= verdict.calls_checked <= verdict.calls_made:
        yield f"{key}: {verdict.calls_checked} calls checked of {verdict.calls_made} made"


def of_solution(record: Record, folder: Path) -> Iterator[str]:
    if record.solution_hash is None:
        return
    try:
        judged_source(place_of(folder, record.problem_id, record.sample) / SOLUTION, record.solution_hash)
    except SchemaError as error:
        yield f"{record.key}: {error}"


def of_timing(timing: Timing, device: str) -> Iterator[str]:
    """Times and speed-ups against the raw blocks; an interval must lie round its speed-up."""
    baselines = [speedup.baseline for speedup in timing.speedups]
    if not timing.samples:
        yield "its raw samples are missing"
        return
    sides = {"candidate", *baselines}
    others = sorted({sample.side for sample in timing.samples if sample.k} - sides)
    if others or len(set(baselines)) < len(baselines):
        yield f"blocks of {', '.join(others) or 'a side'} that no speed-up is over, or a speed-up twice"
    if set(timing.latency_us) != sides or set(timing.single_call_us) != sides:
        yield f"times of {', '.join(sorted(timing.latency_us)) or 'no side'}; timed were {', '.join(sorted(sides))}"
    try:
        again = clock.assess(timing.samples, baselines, LENIENT, False, device, timing.warm)
    except (ValueError, ArithmeticError) as error:
        yield f"its samples give no time: {error}"
        return
    for what, stored, given in (
        ("a call", timing.latency_us, again.latency_us),
        ("a call alone", timing.single_call_us, again.single_call_us),
        ("a warm call", timing.warm_us, again.warm_us),
    ):
        for side, before in stored.items():
            after = given.get(side)
            if after is None or not math.isclose(before, after, rel_tol=TOLERANCE):
                told = "nothing" if after is None else f"{after:.6g}"
                yield f"{before:.6g} us for {what} of {side} is stored, its samples give {told}"
    if not math.isclose(timing.overhead_us, again.overhead_us, rel_tol=TOLERANCE):
        yield f"an overhead of {timing.overhead_us:.6g} us is stored, its samples give {again.overhead_us:.6g}"
    given_flags, stored_flags = DERIVED_FLAGS & set(again.flags), DERIVED_FLAGS & set(timing.flags)
    yield from (f"its samples are {flag}, which is not stored" for flag in sorted(given_flags - stored_flags))
    for flag in sorted(stored_flags - given_flags - {"noisy"}):
        yield f"its samples are not {flag}, which is stored"
    derived = {speedup.baseline: speedup for speedup in again.speedups}
    for speedup in timing.speedups:
        found = derived.get(speedup.baseline)
        value = found.value if found is not None else None
        if found is not None and not _alike(speedup.pairs, found.pairs):
            yield f"the pairs' ratios over {speedup.baseline} are not those of its samples"
        if value is None or not math.isclose(speedup.value, value, rel_tol=TOLERANCE):
            said = "nothing" if value is None else f"{value:.6g}x"
            yield f"{speedup.value:.6g}x {speedup.baseline} is stored, its samples give {said}"
        bounds = speedup.interval
        if bounds is not None and not math.isclose(math.sqrt(bounds.low * bounds.high), speedup.value, rel_tol=1e-6):
            yield f"the interval {bounds.low:.6g}-{bounds.high:.6g} does not lie round {speedup.value:.6g}x {speedup.baseline}"


def _alike(stored: Sequence[float], again: Sequence[float]) -> bool:
    return len(stored) == len(again) and all(
        math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(stored, again, strict=True)
    )


def of_config(info: RunInfo) -> Iterator[str]:
    """What run.json says twice, it says alike; and what it says is something that kbench knows."""
    config = info.config
    for what, one, other in (
        ("protocol", config.get("protocol"), info.protocol.get("name")),
        ("samples", config.get("samples"), info.samples),
        (
            "device",
            str(config.get("device", "")).partition(":")[0],
            str(info.environment.get("device", "")).partition(":")[0],
        ),
        ("kbench", info.kbench_version, info.environment.get("kbench")),
    ):
        if str(one) != str(other):
            yield f"run.json: {what} is {one} in one place and {other} in another"
    if config.get("policy") not in POLICIES:
        yield f"run.json: policy {config.get('policy')!r} is none of {', '.join(POLICIES)}"


def of_protocol(run: Run) -> Iterator[str]:
    """The protocol that was recorded is the one of that name, every verdict was reached under it, in a full sandbox."""
    name = str(run.info.protocol.get("name"))
    known = PROTOCOLS.get(name)
    if known is None:
        yield f"protocol {name!r} is none of this kbench's: {', '.join(PROTOCOLS)}"
    else:
        yield from differences("protocol", run.info.protocol, encode(known))
    last = latest(run.records)
    verdicts = [(record.key, record.verdict) for record in last if record.verdict is not None]
    yield from _each(
        (key for key, verdict in verdicts if _ran(verdict) and verdict.protocol != name), f"not judged under {name}"
    )
    weak = [
        (key, verdict.sandbox) for key, verdict in verdicts if _ran(verdict) and verdict.sandbox not in FULL_SANDBOX
    ]
    for rung in dict.fromkeys(sandbox for _, sandbox in weak):
        yield from _each(
            (key for key, sandbox in weak if sandbox == rung),
            f"judged in sandbox {rung or 'none'!s}, below the full one",
        )
    policy = run.info.config.get("policy")
    scored = ((r.key, r.verdict) for r in last if r.verdict is not None and not r.exempt)
    told = ((key, POLICY_WORD.match(gate.evidence)) for key, v in scored for gate in v.gates if gate.name == "policy")
    yield from _each((key for key, word in told if word and word[1] != policy), f"not judged under policy {policy}")
    device = str(run.info.config.get("device", ""))
    yield from _each((key for key, v in verdicts if v.device and v.device != device), f"not judged on {device}")
    yield from _each((r.key for r in last if r.run_id != run.info.run_id), f"not of run {run.info.run_id}")


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
        for baseline in sorted(timed - set(asked)):
            yield f"{record.key}: timed against {baseline}, which the run did not ask for"
        for baseline in asked:
            if baseline not in timed and not any(f.startswith(f"no {baseline} baseline") for f in verdict.timing.flags):
                yield f"{record.key}: not timed against {baseline}, and nothing says why"
        if verdict.timing.samples:
            yield from (f"{record.key}: {line}" for line in _of_blocks(verdict.timing, known, timed))
            counted = {CLOCK_COUNT.match(gate.evidence) for gate in verdict.gates if gate.name == "clock"}
            if not any(match and int(match[1]) == len(verdict.timing.samples) for match in counted):
                yield f"{record.key}: {len(verdict.timing.samples)} blocks, which is not what the clock says"
    yield from _repeated(latest(run.records))


def _repeated(records: Iterable[Record]) -> Iterator[str]:
    """Blocks that took the same times, to the last digit, in two pairs or two attempts: no clock says that twice."""
    seen: dict[tuple[float, ...], str] = {}
    for record in records:
        timing = record.verdict.timing if record.verdict is not None else None
        for pair in sorted({sample.pair for sample in timing.samples}) if timing is not None else ():
            assert timing is not None
            times = tuple(s.elapsed_us for s in timing.samples if s.side == "candidate" and s.pair == pair and s.k)
            if len(times) > 1 and times in seen:
                yield f"{record.key}: the blocks of pair {pair} are those of {seen[times]}"
            seen.setdefault(times, f"{record.key}, pair {pair}")


def _of_blocks(timing: Timing, protocol: Protocol, baselines: Iterable[str]) -> Iterator[str]:
    """Whether the blocks are all there; what is left out may be what was slow."""
    pairs = sorted({sample.pair for sample in timing.samples})
    if pairs[: protocol.pairs] != list(range(protocol.pairs)):
        yield f"blocks of pairs {pairs}; {protocol.name} times {protocol.pairs}"
    for pair in pairs:
        own = [sample for sample in timing.samples if sample.pair == pair]
        sides = ("candidate", *sorted(baselines))
        rounds = {side: [s.k for s in own if s.side == side and s.k] for side in sides}
        calls = sorted(set(rounds["candidate"]))
        least = len(protocol.timed_rounds(calls[calls[:1] == [1] :])) if calls else 1
        if any(played != rounds["candidate"] for played in rounds.values()):
            yield f"its sides do not have the same blocks in pair {pair}"
        elif len(rounds["candidate"]) < least:
            yield f"{len(rounds['candidate'])} blocks a side in pair {pair}; {protocol.name} times {least} at least"
        elif sum(s.k == 0 for s in own) != len(rounds["candidate"]):
            yield f"{sum(s.k == 0 for s in own)} empty blocks in {len(rounds['candidate'])} rounds of pair {pair}"


def of_attempts(run: Run) -> Iterator[str]:
    """What no run of kbench writes: attempts that nobody asked for, made anew after a verdict, or without what they rest on."""
    asked, last = run.info.samples, latest(run.records)
    if not run.info.problems:
        yield "no problem: a run asks for one at least"
    yield from _each((r.key for r in last if not 0 <= r.sample < asked), f"no sample of a run of {asked}")
    yield from _each(
        (r.key for r in last if r.solution_hash is None and r.verdict is not None and _ran(r.verdict)),
        "judged, and no solution stands on record",
    )
    yield from _each(dict.fromkeys(_made_anew(run)), "made anew after a verdict")
    known = PROTOCOLS.get(str(run.info.protocol.get("name")))
    if known is not None and not known.interval:
        told = (r.key for r in last for timing in _timings(r) if any(s.interval is not None for s in timing.speedups))
        yield from _each(told, f"an interval, which {known.name} has none of")
    left_out = {r.problem_id for r in last if r.not_run is not None}
    yield from _each(
        (r.key for r in last if r.problem_id in left_out and r.not_run is None),
        "made, and another attempt at its problem is said to be too large for the device",
    )
    if known is not None:
        quick = ((r.key, "quick" in timing.flags) for r in last for timing in _timings(r))
        yield from _each(
            (key for key, flagged in quick if flagged == known.interval), f"not timed as {known.name} times"
        )
    if len({record.exempt for record in last}) > 1:
        yield from _each((r.key for r in last if r.exempt), "a baseline's attempt among a model's")


def _made_anew(run: Run) -> Iterator[str]:
    """Attempts with a record after one that settled them. A resumed run leaves those alone, but for a stored solution that has
    been exchanged since; that does not make a failure good."""
    stored = str(run.info.config.get("model", "")).startswith("replay/")
    before: dict[str, Record] = {}
    for record in run.records:
        earlier = before.get(record.key)
        if earlier is not None and earlier.settled:
            hashes = {earlier.solution_hash, record.solution_hash}
            exchanged = stored and len(hashes) == 2 and None not in hashes
            if not exchanged or (record.status is Status.CORRECT and earlier.status is not Status.CORRECT):
                yield record.key
        before[record.key] = record


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
    if suite_hash_of(info.problems) != info.suite_hash:
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
