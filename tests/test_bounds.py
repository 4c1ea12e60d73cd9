"""The sizes that shapes stand for."""

from __future__ import annotations

import pytest

from kbench.bounds import size_finding, time_findings
from kbench.errors import ProblemError, RefereeError
from kbench.findings import Admission, Finding, Outcome, Standing, Trial, broke_off

SIZES = {"inputs": 2**30, "outputs": 2**30, "weights": 0}


def test_a_shape_that_judging_cannot_hold_is_a_fault_and_one_of_unknown_size_no_ok() -> None:
    assert size_finding("medium", SIZES, 23 * 10**9).standing is Standing.OK
    assert size_finding("medium", SIZES, 25 * 10**9).standing is Standing.FAULT
    assert size_finding("full", None, 0).standing is Standing.UNKNOWN


@pytest.mark.parametrize(
    ("call_ms", "standing"),
    [(1.0, "ok"), (50.0, "ok"), (0.6, "ok"), (150.0, "doubt"), (0.3, "doubt"), (0.2, "fault"), (201.0, "fault")],
)
def test_a_time_is_a_fault_only_where_no_machine_of_that_kind_would_have_it(call_ms: float, standing: str) -> None:
    assert [str(f.standing) for f in time_findings("small", "cpu", 1000 * call_ms)] == [standing]


def test_a_shape_is_timed_only_on_the_device_that_it_is_made_for() -> None:
    assert not list(time_findings("full", "cpu", 1.0))
    assert not list(time_findings("odd", "cpu", 1.0))
    assert len(list(time_findings("full", "cuda:0", 1.0))) == 1


def test_a_check_that_broke_off_is_unknown_and_made_again_where_the_problem_is_not_to_blame() -> None:
    ours, theirs = broke_off(RefereeError("the oracle died")), broke_off(ProblemError("line 3: no such operator"))
    assert (ours.standing, Admission("level1/1_a", "small", (ours,)).complete) == (Standing.UNKNOWN, False)
    assert (theirs.standing, Admission("level1/1_a", "small", (theirs,)).complete) == (Standing.FAULT, True)


def test_the_worst_finding_decides_and_an_equivalent_mutant_is_not_counted() -> None:
    findings = [Finding("a", standing, "") for standing in (Standing.OK, Standing.DOUBT, Standing.FAULT)]
    outcomes = (Outcome.KILLED, Outcome.SURVIVED, Outcome.EQUIVALENT, Outcome.KILLED)
    trials = tuple(Trial("m", "null", outcome, ("default",), None, "") for outcome in outcomes)
    admission = Admission("level1/1_a", "small", tuple(findings), trials)
    assert (admission.standing(), admission.score) == (Standing.FAULT, (2, 3))
    assert Admission("level1/1_a", "small", tuple(findings[:2])).standing() is Standing.DOUBT
