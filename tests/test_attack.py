"""kbench attack: the manifest is whole, known cheats are caught by the right gate, honest controls pass, and an outcome that is
not as the manifest wants it is said to be one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kbench.attack import assess, attack, settings_for
from kbench.cli.attack import show
from kbench.errors import ConfigError
from kbench.evaluate import Session
from kbench.exploits import MANIFEST, AttackCase, read_manifest, select
from kbench.limits import checked, none_of, seen
from kbench.referee.case import QUICK
from kbench.referee.judging import MORE_LONE
from kbench.types import Gate, Speedup, Status, Timing, Verdict

from .conftest import EXPLOITS

CASES = read_manifest(EXPLOITS)
CI = [case for case in CASES if case.ci]
FAMILIES = [  # that public harnesses have met
    "T1", "T2", "T4", "T5", "T6", "T7", "T8", "T11", "T12", "T13",
    "C1", "C2", "C3", "C5", "C6", "C7", "C9", "C10", "C11", "C12", "C13", "C15",
    "R1", "R2", "R3", "R5", "P1", "P3", "P4", "P5", "P7",
]  # fmt: skip
CONTROLS = [f"k{i}" for i in range(1, 16)]
NEEDS_GPU = {"T11"}


def of(family: str) -> list[AttackCase]:
    return [case for case in CASES if case.family == family]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_variants_that_differ_and_one_that_is_always_judged(family: str) -> None:
    assert len(of(family)) >= 2
    assert all(case.exploit is not None for case in of(family))
    assert any(case.ci for case in of(family)) or family in NEEDS_GPU


@pytest.mark.parametrize("family", CONTROLS)
def test_every_honest_control_is_there_and_always_judged(family: str) -> None:
    assert of(family)
    assert all(case.exploit is None for case in of(family))
    assert any(case.ci for case in of(family))


def test_no_candidate_file_is_left_out_of_the_manifest_and_no_family_is_unknown() -> None:
    named = {case.path.resolve() for case in CASES}
    assert [path for path in EXPLOITS.glob("[A-Zk]*/*.py") if path.resolve() not in named] == []
    assert {case.family for case in CASES} == {*FAMILIES, *CONTROLS}


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CI if case.exploit is not None], ids=lambda case: case.id)
def test_every_exploit_is_caught(session: Session, case: AttackCase) -> None:
    outcome = attack(session, case)
    assert outcome.held, (outcome.fault, outcome.verdict.gates, outcome.verdict.detail[-2000:])


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CI if case.exploit is None], ids=lambda case: case.id)
def test_an_honest_control_is_never_accused(session: Session, case: AttackCase) -> None:
    outcome = attack(session, case)
    assert outcome.held, (outcome.fault, outcome.verdict.gates, outcome.verdict.detail[-2000:])


def case_of(name: str) -> AttackCase:
    return next(case for case in CASES if case.id == name)


def verdict_of(status: Status, gate: Gate, speedup: float | None = None) -> Verdict:
    timing = None
    if speedup is not None:
        timing = Timing({"candidate": 1.0, "eager": speedup}, {}, (Speedup("eager", speedup),), ())
    return Verdict(status, "told", (gate,), timing=timing)


CACHE, LIAR, HONEST = (
    case_of("C7_identity_cache/by_sample"),
    case_of("T2_patched_timer/perf_counter"),
    case_of("k1_each_language/torch"),
)
CAUGHT = verdict_of(Status.INCORRECT, Gate("values", False, "wrong"))
PASSED = verdict_of(Status.CORRECT, Gate("values", True, "right"), speedup=3.0)


@pytest.mark.parametrize(
    ("case", "verdict", "fault"),
    [
        (CACHE, CAUGHT, ""),
        (CACHE, PASSED, "correct where incorrect is right"),
        (CACHE, verdict_of(Status.INCORRECT, Gate("structure", False, "a list")), "structure fired where values must"),
        (CACHE, verdict_of(Status.COMPILE_ERROR, Gate("build", False, "no torch")), "compile_error where incorrect"),
        (CACHE, Verdict(Status.INFRA_ERROR, "the lane died"), "infra_error where incorrect"),
        (LIAR, verdict_of(Status.CORRECT, Gate("values", True, "right"), speedup=0.1), ""),
        (LIAR, PASSED, "told to be 3.00x eager"),
        (LIAR, verdict_of(Status.CORRECT, Gate("values", True, "right")), "no time was told"),
        (HONEST, PASSED, ""),
        (HONEST, CAUGHT, "incorrect where correct is right"),
    ],
)
def test_an_outcome_holds_only_if_it_is_as_the_manifest_wants_it(
    case: AttackCase, verdict: Verdict, fault: str
) -> None:
    found = assess(case, verdict).fault
    assert fault in found
    assert bool(fault) == bool(found)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('id = "k1_x/here"\nstatus = "correct"', "status"),
        ('device = "cpu"', "id"),
        ('id = "k1_x/nowhere"', "no file"),
        ('id = "k1_x/here"\ndevice = "tpu"', "'tpu'"),
        ('id = "k1_x/here"\nstatuses = ["incorrect"]', "must end correct"),
        ('id = "k1_x/here"\nclaim = "false_time"', "claim"),
        ('id = "C1_x/here"\nstatuses = ["incorrect"]\ngates = ["values"]', "claim"),
        ('id = "C1_x/here"\nclaim = "wrong_answer"\nstatuses = ["wrong"]\ngates = ["values"]', "'wrong'"),
        ('id = "C1_x/here"\nclaim = "wrong_answer"\nstatuses = ["incorrect"]', "names the gates"),
        ('id = "C1_x/here"\nclaim = "wrong_answer"\nstatuses = ["incorrect"]\ngates = ["magic"]', "'magic'"),
        ('id = "C1_x/here"\nclaim = "wrong_answer"\nstatuses = ["correct"]\ngates = ["values"]', "speedup_below"),
        ('id = "k1_x/here"\n[[case]]\nid = "k1_x/here"', "twice"),
        ("id = ", "manifest.toml"),
    ],
)
def test_a_manifest_that_is_wrong_says_where(tmp_path: Path, lines: str, says: str) -> None:
    for folder in ("k1_x", "C1_x"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "here.py").touch()
    (tmp_path / MANIFEST).write_text(f"[[case]]\n{lines}\n")
    with pytest.raises(ConfigError, match=says):
        read_manifest(tmp_path)


def test_families_are_chosen_by_name_and_an_unknown_one_is_an_error() -> None:
    assert {case.family for case in select(CASES, "cpu", ["t1", "K3"])} == {"T1", "k3"}
    assert all(case.device != "cpu" for case in select(CASES, "cuda:0", []))
    with pytest.raises(ConfigError, match="t99"):
        select(CASES, "cpu", ["T99"])


@pytest.mark.parametrize("as_json", [True, False])
def test_a_hole_is_told_with_its_reason(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    outcomes = [assess(CACHE, PASSED), assess(HONEST, PASSED)]
    show(outcomes, settings_for("cpu", "small", "quick"), "namespaces", as_json)
    out = capsys.readouterr().out
    assert "correct where incorrect is right" in " ".join(out.split())
    assert "namespaces" in out
    if as_json:
        told = json.loads(out)
        assert told["held"] is False
        assert [case["held"] for case in told["cases"]] == [False, True]
    else:
        assert "0 of 1 exploits of 1 families held; 1 of 1 honest controls passed" in out


def test_the_figures_of_the_limits_are_those_of_drawing_with_and_without_replacement() -> None:
    assert seen(0.5, 3) == 0.875
    assert none_of(1, 10, 3) == 0.7
    assert none_of(8, 10, 3) == 0.0


@pytest.mark.slow
def test_the_limits_count_as_many_calls_as_a_judging_makes(session: Session) -> None:
    verdict = attack(session, HONEST).verdict
    assert verdict.timing is not None
    largest = max(sample.k for sample in verdict.timing.samples)
    one = checked(QUICK, 100_000.0 / (largest - 0.5))  # a call so long that a block of 100 ms takes that many
    assert one.largest == largest
    beside = (
        verdict.calls_made - one.calls
    )  # the round with a near-duplicate, which is not timed, and further lone calls
    assert 0 < beside <= largest + MORE_LONE


def test_a_case_keeps_its_settings_to_itself(session: Session) -> None:
    before = session.settings
    gone = replace(HONEST, path=EXPLOITS / "k1_each_language" / "gone.py", policy="pure")
    with pytest.raises(ConfigError, match="gone"):
        attack(session, gone)
    assert session.settings == before
