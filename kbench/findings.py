"""What `kbench problems check` found about one problem in one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kbench.errors import KBenchError, ProblemError

RUNS = "runs"  # the check that the problem runs at all


class Standing(StrEnum):
    OK = "ok"
    DOUBT = "doubt"  # told, and no reason to refuse the problem
    FAULT = "fault"  # the problem is not admitted
    UNKNOWN = "unknown"  # could not be found out here; never an OK


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of a problem and what was seen."""

    check: str
    standing: Standing
    evidence: str


def broke_off(error: KBenchError) -> Finding:
    """A check that ended early: a fault where the problem's own code raised, unknown where the machinery failed."""
    told = str(error).strip().splitlines()[-1]
    return Finding(RUNS, Standing.FAULT if isinstance(error, ProblemError) else Standing.UNKNOWN, told)


class Outcome(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"  # in fp64 it is the right answer to within an ulp of the output's dtype


@dataclass(frozen=True, slots=True)
class Trial:
    """One wrong solution, and what the referee's comparison made of its answers.

    `error` is its relative L2 error against fp64 in the family where it was largest; None where that is no number, as for
    indices. `told` is the refusal, or how near to the right answer it came.
    """

    mutant: str
    group: str
    outcome: Outcome
    families: tuple[str, ...]  # those whose values it was tried on
    error: float | None
    told: str


@dataclass(frozen=True, slots=True)
class Admission:
    """All that was found about a problem in one shape on one device."""

    problem_id: str
    shapes: str
    findings: tuple[Finding, ...]
    trials: tuple[Trial, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)
    reduced: dict[str, tuple[int, int]] = field(default_factory=dict)  # constants of the module: as written, as checked
    seconds: float = 0.0

    def standing(self) -> Standing:
        """The worst of its findings."""
        seen = {finding.standing for finding in self.findings}
        order = (Standing.FAULT, Standing.UNKNOWN, Standing.DOUBT)
        return next((standing for standing in order if standing in seen), Standing.OK)

    def of(self, standing: Standing) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.standing is standing)

    @property
    def complete(self) -> bool:
        """Whether it came to its end; one that did not is made again by the next run."""
        return not any(f.check == RUNS and f.standing is Standing.UNKNOWN for f in self.findings)

    @property
    def score(self) -> tuple[int, int]:
        """Mutants killed, and those that are no equivalent of the right answer."""
        counted = [trial for trial in self.trials if trial.outcome is not Outcome.EQUIVALENT]
        return sum(trial.outcome is Outcome.KILLED for trial in counted), len(counted)


def total_score(admissions: Sequence[Admission]) -> tuple[int, int]:
    scores = [admission.score for admission in admissions]
    return sum(killed for killed, _ in scores), sum(total for _, total in scores)
