"""kbench problems check: every problem on trial, one after another. What was found is kept, so that the same command goes on.

Problem -> sizes (meta device) -> a lane's examination -> Admission -> kept
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kbench import __version__, environment
from kbench.attempts import needed_bytes
from kbench.bounds import FITS_BYTES, size_finding, time_findings
from kbench.codec import decode, encode
from kbench.errors import ProblemError, RefereeError, SchemaError
from kbench.evaluate import Session, Settings, problem_case
from kbench.files import json_text, write_atomic
from kbench.findings import Admission, Finding, Standing
from kbench.types import Problem

CHECKING = ("oracle", "referee", "findings.py", "bounds.py", "admission.py")  # the code that decides what is found
SIDES = 3  # of a judging: candidate, eager, compile

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


def check(checking: Checking, session: Session, report: Report) -> list[Admission]:
    """The admission of every problem and shape, in order."""
    ended = []
    for problem, shape in checking.items():
        path = checking.kept / f"{key_of(checking, problem, shape)}.json"
        known = None if checking.again else read(path)
        admission = known or admit(problem, shape, checking, session)
        if known is None:
            write_atomic(path, json_text(admission), durable=False)
        report(admission, known is not None)
        ended.append(admission)
    return ended


def admit(problem: Problem, shape: str, checking: Checking, session: Session) -> Admission:
    """One problem in one shape. What goes wrong with it is a finding."""
    started = time.monotonic()
    settings = replace(checking.settings, shapes=shape)
    if problem.shapes and shape not in problem.shapes:
        lacks = Finding("shapes", Standing.FAULT, f"it has no shapes {shape!r}")
        return Admission(problem.id, shape, (lacks,))
    findings = [*sizes_of(problem, settings, session)]
    case = problem_case(problem, settings)
    try:
        examined = session.referee.admit(case, checking.quick)
    except (ProblemError, RefereeError) as error:
        findings.append(Finding("runs", Standing.FAULT, str(error).strip().splitlines()[-1]))
        return Admission(problem.id, shape, tuple(findings), seconds=time.monotonic() - started)
    call_us = examined.facts["call_us"]
    assert isinstance(call_us, float)
    findings += [*examined.findings, *time_findings(shape if problem.shapes else "", settings.device, call_us)]
    seconds = time.monotonic() - started
    return Admission(problem.id, shape, tuple(findings), examined.trials, examined.facts, seconds=seconds)


def sizes_of(problem: Problem, settings: Settings, session: Session) -> Iterator[Finding]:
    """Whether the large shapes fit, which needs no memory: computed on the meta device."""
    bounded = [shape for shape in FITS_BYTES if shape in problem.shapes]
    cases = [problem_case(problem, replace(settings, shapes=shape)) for shape in bounded]
    for shape, survey in zip(bounded, session.referee.survey(cases) if cases else [], strict=True):
        if survey.failed:
            yield Finding(f"{shape} loads", Standing.FAULT, survey.failed)
        else:
            needed = needed_bytes(survey.sizes, SIDES, "cuda") if survey.sizes else 0
            yield size_finding(shape, survey.sizes, needed)


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
