"""kbench problems check: every problem on trial, in turn or side by side. What was found is kept: the same command goes on.

Problem -> sizes (meta device) -> a lane's examination -> Admission -> kept
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from kbench import __version__, environment, shrink
from kbench.attempts import needed_bytes
from kbench.bounds import FITS_BYTES, size_finding, time_findings
from kbench.codec import decode, encode
from kbench.errors import ProblemError, RefereeError, SchemaError
from kbench.evaluate import Session, Settings, problem_case
from kbench.files import json_text, write_atomic
from kbench.findings import Admission, Finding, Standing, broke_off
from kbench.referee.client import Examined, Survey
from kbench.source import source_hash
from kbench.types import Problem

CHECKING = (
    "oracle",
    "referee",
    "findings.py",
    "bounds.py",
    "shrink.py",
    "admission.py",
)  # the code that decides what is found
MEMORY_SHARE = 0.8  # of what is free, for all lanes together
SIDES = 3  # of a judging: candidate, eager, compile
CPU_LIMITS = (96 << 20, 2e9)  # bytes of tensors, and flops, of one call that is tried some fifty times
GPU_SHARE, GPU_FLOPS = 1 / 16, 2e13
FAINT = 1e-4  # KernelBench's absolute tolerance in fp32

Report = Callable[[Admission, bool], None]  # what was found, and whether it was known before


@dataclass(frozen=True, slots=True)
class Checking:
    """Which problems are checked how. `shapes` are those that are run; a problem without SHAPES is run as it stands."""

    problems: tuple[Problem, ...]
    settings: Settings
    shapes: tuple[str, ...]
    quick: bool
    kept: Path
    again: bool = False

    def items(self) -> Iterator[tuple[Problem, str]]:
        for problem in self.problems:
            for shape in [shape for shape in self.shapes if shape in problem.shapes] or self.shapes[:1]:
                yield problem, shape


@dataclass(frozen=True, slots=True)
class Share:
    """Of the device's memory: lanes at work beside each other, and what one of them may hold."""

    lanes: int
    held_bytes: float


ALL = Share(1, math.inf)


def check(checking: Checking, sessions: Sequence[Session], report: Report) -> list[Admission]:
    """The admission of every problem and shape, in order; as many at once as there are sessions, and alone what would
    take more than its share of memory."""
    items, ended = list(checking.items()), dict[int, Admission]()

    def settle(at: int, admission: Admission, known: bool = False) -> None:
        ended[at] = admission
        if not known and admission.complete:
            write_atomic(kept_at(checking, *items[at]), json_text(admission), durable=False)
        report(admission, known)

    for at, item in enumerate(items):
        known = None if checking.again else read(kept_at(checking, *item))
        if known is not None:
            settle(at, known, known=True)
    left = [at for at in range(len(items)) if at not in ended]
    if len(sessions) > 1:
        for at, admission in side_by_side(checking, {at: items[at] for at in left}, sessions):
            if admission is not None:
                settle(at, admission)
        for session in sessions[1:]:
            session.referee.end()
    for at in left:
        if at not in ended:
            admission = admit(*items[at], checking, sessions[0])
            assert admission is not None
            settle(at, admission)
    return [ended[at] for at in range(len(items))]


def side_by_side(
    checking: Checking, items: dict[int, tuple[Problem, str]], sessions: Sequence[Session]
) -> Iterator[tuple[int, Admission | None]]:
    """As they end. None is one that has to be alone on the device."""
    idle: SimpleQueue[Session] = SimpleQueue()
    share = Share(len(sessions), MEMORY_SHARE * sessions[0].available_bytes() / len(sessions))
    for session in sessions:
        session.referee.ready()
        idle.put(session)

    def one(at: int) -> tuple[int, Admission | None]:
        session = idle.get()
        try:
            return at, admit(*items[at], checking, session, share)
        finally:
            idle.put(session)

    with ThreadPoolExecutor(len(sessions)) as pool:
        asked = [pool.submit(one, at) for at in items]
        try:
            for done in as_completed(asked):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def admit(problem: Problem, shape: str, checking: Checking, session: Session, share: Share = ALL) -> Admission | None:
    """One problem in one shape. What goes wrong with it is a finding. None where its share of the memory is too small."""
    started = time.monotonic()
    settings = replace(checking.settings, shapes=shape)
    if problem.shapes and shape not in problem.shapes:
        lacks = Finding("shapes", Standing.FAULT, f"it has no shapes {shape!r}")
        return Admission(problem.id, shape, (lacks,))
    surveys = surveyed(problem, settings, session)
    if shape in surveys and needs(surveys[shape]) > share.held_bytes:
        return None
    findings = [*sizes_of(surveys)]
    values = {} if problem.shapes else reductions(problem, settings, session)
    tried = cut(problem, values)
    admission = Admission(problem.id, shape, (), reduced=changes(problem, values))
    try:
        examined = session.referee.admit(problem_case(tried, settings), checking.quick, lanes=share.lanes)
        if values:
            findings += faint_at_full_size(problem, values, examined, settings, session)
    except (ProblemError, RefereeError) as error:
        findings.append(broke_off(error))
        return replace(admission, findings=tuple(findings), seconds=time.monotonic() - started)
    findings += examined.findings
    call_us = examined.facts.get("call_us")
    if problem.shapes and isinstance(call_us, float):
        findings += time_findings(shape, settings.device, call_us)
    seconds = time.monotonic() - started
    return replace(admission, findings=tuple(findings), trials=examined.trials, facts=examined.facts, seconds=seconds)


def cut(problem: Problem, values: dict[str, int]) -> Problem:
    """The problem with module constants reduced."""
    source = shrink.reduced(problem.source, values) if values else problem.source
    return replace(problem, source=source, content_hash=hashlib.sha256(source.encode()).hexdigest())


def changes(problem: Problem, values: dict[str, int]) -> dict[str, tuple[int, int]]:
    known = shrink.constants(problem.source)
    return {name: (known[name], value) for name, value in values.items()}


def reductions(problem: Problem, settings: Settings, session: Session) -> dict[str, int]:
    """Constants at which a problem without SHAPES can be tried on this device; none where it can as it is."""
    limit_bytes, limit_flops = CPU_LIMITS
    if settings.device != "cpu":
        limit_bytes, limit_flops = int(GPU_SHARE * session.available_bytes()), GPU_FLOPS

    def excess(source: str) -> float | None:
        case = problem_case(replace(problem, source=source, content_hash=source_hash(source)), settings)
        facts: dict[str, Any] = session.referee.facts([case])[0]
        if "failed" in facts:
            return None
        held = facts["inputs_bytes"] + facts["outputs_bytes"] + facts["weights_bytes"] + facts["peak_bytes"]
        return float(max(held / limit_bytes, facts["flops"] / limit_flops))

    return shrink.shrunk(problem.source, excess)


def faint_at_full_size(
    problem: Problem, values: dict[str, int], examined: Examined, settings: Settings, session: Session
) -> Iterator[Finding]:
    """Do outputs shrink as the problem grows? Its size at full size is extrapolated from two reduced ones, by a power law."""
    name = next(iter(values))
    smaller = values | {name: max(1, values[name] // 2)}
    if smaller == values:
        return
    half = session.referee.admit(problem_case(cut(problem, smaller), settings), quick=True, values_only=True)
    sizes = {key: facts.get("largest") for key, facts in (("now", examined.facts), ("half", half.facts))}
    now, then = sizes["now"], sizes["half"]
    if not (isinstance(now, float) and isinstance(then, float) and 0 < now < then):
        return
    exponent = math.log(now / then) / math.log(values[name] / smaller[name])
    full = shrink.constants(problem.source)[name]
    largest = now * (full / values[name]) ** exponent
    if now > FAINT >= largest:
        told = f"outputs fall as {name}^{exponent:.2f}: at {name} = {full} none is larger than {largest:.1e} (extrapolated)"
        yield Finding("values", Standing.FAULT, f"{told}: zeros pass an absolute tolerance of {FAINT:g}")


def surveyed(problem: Problem, settings: Settings, session: Session) -> dict[str, Survey]:
    """How large the problem is in the shapes that have a bound, and in the one at hand: computed on the meta device."""
    shapes = [shape for shape in dict.fromkeys((*FITS_BYTES, settings.shapes)) if shape in problem.shapes]
    cases = [problem_case(problem, replace(settings, shapes=shape)) for shape in shapes]
    return dict(zip(shapes, session.referee.survey(cases) if cases else [], strict=True))


def sizes_of(surveys: dict[str, Survey]) -> Iterator[Finding]:
    """Whether the large shapes fit, which needs no memory."""
    for shape in FITS_BYTES:
        survey = surveys.get(shape)
        if survey is not None and survey.failed:
            yield Finding(f"{shape} loads", Standing.FAULT, survey.failed)
        elif survey is not None:
            yield size_finding(shape, survey.sizes, needs(survey))


def needs(survey: Survey) -> int:
    """Bytes on a GPU of judging it; 0 where its size is unknown."""
    return needed_bytes(survey.sizes, SIDES, "cuda") if survey.sizes else 0


def kept_at(checking: Checking, problem: Problem, shape: str) -> Path:
    return checking.kept / f"{key_of(checking, problem, shape)}.json"


def key_of(checking: Checking, problem: Problem, shape: str) -> str:
    """What decides the findings: the problem's text, the shape, the device, versions, and the code that checks."""
    parts = [
        problem.id, problem.content_hash, shape, environment.device_key(checking.settings.device), str(checking.quick),
        str(checking.settings.precision), __version__, code_hash(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@cache
def code_hash() -> str:
    package, digest = Path(__file__).parent, hashlib.sha256()
    for name in CHECKING:
        files: Sequence[Path] = sorted((package / name).glob("*.py")) if "." not in name else [package / name]
        for path in files:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def read(path: Path) -> Admission | None:
    """What was found before; None where nothing is kept, or where it cannot be read."""
    try:
        return decode(Admission, json.loads(path.read_bytes()))
    except (OSError, ValueError, SchemaError):
        return None


def plain(admission: Admission) -> dict[str, object]:
    """As JSON, with the verdict and the score spelt out."""
    killed, total = admission.score
    return {**encode(admission), "standing": str(admission.standing()), "killed": killed, "mutants": total}
