"""What problems cost, derived and not typed: flops, bytes, parameters, operators of every shape, kept by content.

Deriving runs a forward on the meta device in the sandbox of the problems' own code; reading what is kept runs nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from kbench import environment
from kbench.evaluate import Session, Settings, problem_case
from kbench.files import write_atomic
from kbench.types import Problem

AS_WRITTEN = "as written"  # the only shape of a problem without SHAPES


@dataclass(frozen=True, slots=True)
class Costs:
    """One call in one shape; see oracle/facts.py for what is counted."""

    flops: int
    inputs_bytes: int
    outputs_bytes: int
    weights_bytes: int
    moved_bytes: int
    traffic_bytes: int
    peak_bytes: int
    parameters: int
    operators: dict[str, int]


Known = dict[str, Costs | None]  # shape -> its costs; None where they cannot be derived


def shapes_of(problem: Problem) -> tuple[str, ...]:
    return tuple(problem.shapes) or (AS_WRITTEN,)


def known(problem: Problem) -> Known | None:
    """What is kept about the problem; None where nothing is."""
    try:
        kept = json.loads(_path(problem).read_bytes())
        return {shape: Costs(**found) if found is not None else None for shape, found in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def derive(problems: Iterable[Problem], session: Session, report: Callable[[Problem], None]) -> None:
    """Derives and keeps what is not known yet."""
    for problem in problems:
        if known(problem) is None:
            found = dict(zip(shapes_of(problem), _ask(problem, session), strict=True))
            text = json.dumps({shape: asdict(costs) if costs else None for shape, costs in found.items()})
            write_atomic(_path(problem), text, durable=False)
            report(problem)


def _ask(problem: Problem, session: Session) -> Sequence[Costs | None]:
    settings: Settings = session.settings
    cases = [problem_case(problem, replace(settings, shapes=shape)) for shape in shapes_of(problem)]
    return [None if "failed" in facts else Costs(**facts) for facts in session.referee.facts(cases)]


def _path(problem: Problem) -> Path:
    return environment.cache_folder() / "costs" / f"{problem.content_hash[:32]}-{_counted_by()}.json"


@cache
def _counted_by() -> str:
    """What decides the figures beside the problem: the code that counts, and torch's version."""
    counting = (Path(__file__).parent / "oracle" / "facts.py").read_bytes()
    return hashlib.sha256(counting + str(environment.package_version("torch")).encode()).hexdigest()[:8]
