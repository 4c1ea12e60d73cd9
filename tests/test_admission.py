"""Problems with one fault each, checked by the command itself: the fault is named, and a sound problem has none."""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from kbench import admission, registry, sandbox
from kbench.cli import main
from kbench.codec import decode, encode
from kbench.evaluate import Settings, problem_case
from kbench.findings import Outcome
from kbench.referee.client import Examined
from kbench.referee.lane import Lane
from kbench.referee.stand import Stand
from kbench.referee.turns import Turns

HEAD = """
import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {"small": {"rows": 32}}
INPUTS = %s


class Model(nn.Module):
    def __init__(self):
        super().__init__()
%s

    def forward(self, %s):
        return %s


def get_inputs(*, rows=32, family="default"):
    x = torch.randn(rows, 48)
    return %s


def get_init_inputs(*, rows=32):
    return []
"""


def problem(
    forward: str, inputs: str = "[x]", init: str = "        pass", names: str = "x", families: str = '("default",)'
) -> str:
    return HEAD % (families, init, names, forward, inputs)


LINEAR = "        self.linear = nn.Linear(48, 24)\n        nn.init.normal_(self.linear.bias)"
DEAD_BIAS = "        self.bias = nn.Parameter(torch.randn(48))\n        self.norm = nn.LayerNorm(48)"
SUITE = {
    "1_sound": problem("torch.relu(self.linear(x))", init=LINEAR),
    "2_identity": problem("torch.relu(x)", inputs="[x.abs()]"),
    "3_zero": problem("torch.clamp(torch.clamp(x, max=0), 0, 1)"),
    "4_dead_weight": problem("self.norm(x + self.bias.mean())", init=DEAD_BIAS),
    "5_dead_input": problem("x.exp() + 0 * y", inputs="[x, torch.randn(rows, 48)]", names="x, y"),
    "6_random": problem("F.dropout(x, 0.5)"),
    "7_faint": problem("torch.softmax(x, dim=-1) * 1e-5"),
    "8_collapsed": problem("x.sum(dim=-1, keepdim=True).expand(-1, 8).contiguous()"),
    "9_infinite": problem("x.exp() / (x > 0)"),
    "10_seedless": problem("x * x", inputs="[x + float(numpy.random.rand())]"),
    "11_broken": problem("x @ x"),
    "12_ill_conditioned": problem("(x + 1e6) - 1e6"),
    "13_idle_tail": problem("x.exp().sum(dim=-1, keepdim=True).clamp(min=0)"),
    "14_shifted": problem("torch.softmax(x, dim=-1)", inputs="[x + 1000 * (family == 'large')]", families='("default", "large")'),
}  # fmt: skip
SUITE["15_plain"] = SUITE["1_sound"].replace("SHAPES =", "UNUSED =")
FAULTS = {  # problem -> the check that finds it, and a word of the evidence
    "2_identity": ("null solutions", "input 0 handed back"),
    "3_zero": ("values", "the output is constant"),
    "4_dead_weight": ("varies with every weight", "bias ignored"),
    "5_dead_input": ("varies with every input", "input 1 ignored"),
    "6_random": ("runs", "forward is random"),
    "7_faint": ("values", "zeros pass an absolute tolerance"),
    "8_collapsed": ("varies along every axis", "axis 1"),
    "9_infinite": ("values", "not finite"),
    "10_seedless": ("inputs follow the seed", "input 0"),
    "11_broken": ("runs", "cannot be multiplied"),
    "12_ill_conditioned": ("values", "lost in rounding"),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "level1").mkdir()
    for name, source in SUITE.items():
        (folder / "level1" / f"{name}.py").write_text(source)
    return folder


def called(*flags: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, what was found, and stderr of the command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["problems", "check", "--device", "cpu", "--quick", "--json", *flags])
    return int(ended.value.code or 0), json.loads(out.getvalue()), err.getvalue()


def checked(suite: Path, *flags: str) -> tuple[int, list[dict[str, Any]], str]:
    return called("--suite", str(suite), "--results", str(suite / "kept"), "--shapes", "small", *flags)


@pytest.fixture(scope="module")
def found(suite: Path) -> dict[str, dict[str, Any]]:
    code, admissions, _ = checked(suite)
    assert code == 1
    return {admission["problem_id"].removeprefix("level1/"): admission for admission in admissions}


@pytest.mark.parametrize("name", FAULTS)
def test_a_problem_with_one_fault_is_refused_and_the_cause_is_named(name: str, found: dict[str, Any]) -> None:
    check, word = FAULTS[name]
    faults = [f for f in found[name]["findings"] if f["standing"] == "fault"]
    assert any(f["check"] == check and word in f["evidence"] for f in faults), faults


def test_a_sound_problem_has_no_fault_and_every_mutant_is_killed(found: dict[str, Any]) -> None:
    sound = found["1_sound"]
    pace = [f for f in sound["findings"] if f["check"].startswith("small takes")]  # 32 rows take no millisecond
    others = [f for f in sound["findings"] if f not in pace and f["standing"] != "ok"]
    assert not others
    assert sound["killed"] == sound["mutants"] > 20


def test_an_operator_that_hands_on_what_it_gets_is_doubted_and_named(found: dict[str, Any]) -> None:
    doubts = [f["evidence"] for f in found["13_idle_tail"]["findings"] if f["standing"] == "doubt"]
    assert any("clamp" in doubt and "hands on what it is given" in doubt for doubt in doubts)


def test_a_softmax_without_its_maximum_is_killed_by_the_family_that_is_shifted(found: dict[str, Any]) -> None:
    naive = [t for t in found["14_shifted"]["trials"] if "the maximum is not taken off" in t["mutant"]]
    assert [(t["outcome"], t["families"]) for t in naive] == [("killed", ["default", "large"])]


def test_the_same_command_again_goes_on_with_what_is_kept(suite: Path, found: dict[str, Any]) -> None:
    (suite / "kept").joinpath(next(os.walk(suite / "kept"))[2][0]).unlink()
    code, admissions, told = checked(suite)
    assert code == 1
    assert told.count("(kept)") == len(SUITE) - 1
    assert len(admissions) == len(SUITE)


def test_several_at_once_find_what_one_finds(suite: Path, found: dict[str, Any], tmp_path: Path) -> None:
    names = ["1_sound", "4_dead_weight", "6_random", "15_plain"]
    flags = ["--suite", str(suite), "--shapes", "small", *(f for name in names for f in ("-p", name))]
    _, admissions, _ = called("--results", str(tmp_path), "--jobs", "3", *flags)

    def told(admission: dict[str, Any]) -> tuple[str, set[str]]:
        faults = {f["check"] for f in admission["findings"] if f["standing"] == "fault"}
        return admission["problem_id"], faults - {"small takes 1 to 50 ms"}  # these are no problems of that size

    assert [told(a) for a in admissions] == [told(found[name]) for name in names]
    assert [admissions[at]["killed"] == admissions[at]["mutants"] > 20 for at in (0, 3)] == [True, True]


def test_what_takes_more_than_its_share_of_memory_is_checked_alone(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit, shares = admission.admit, []

    def watched(*arguments: Any) -> Any:
        shares.append(arguments[4].lanes if len(arguments) > 4 else 1)
        return admit(*arguments)

    monkeypatch.setattr(admission, "admit", watched)
    monkeypatch.setattr(admission, "needs", lambda survey: 1 << 60)
    flags = ("--shapes", "small", "-p", "1_sound", "-p", "4_dead_weight", "--jobs", "2", "--suite", str(suite))
    _, admissions, _ = called("--results", str(tmp_path), *flags)
    assert shares == [2, 2, 1, 1]
    assert [bool(a["trials"]) for a in admissions] == [True, True]


def test_what_is_timed_has_the_device_to_itself(tmp_path: Path) -> None:
    one, other = Turns(tmp_path, "cpu"), Turns(tmp_path, "cpu")
    seen: list[str] = []

    def time_it() -> None:
        with other.alone():
            seen.append("alone")

    with one.beside():
        thread = threading.Thread(target=time_it)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        seen.append("beside")
    thread.join(10)
    with one.beside(), other.beside():
        seen.append("two")
    assert seen == ["beside", "alone", "two"]
    one.close()
    other.close()


def test_a_problem_without_a_fault_gives_exit_code_zero(suite: Path, found: dict[str, Any]) -> None:
    code, admissions, _ = checked(suite, "-p", "15_plain")
    assert (code, admissions[0]["standing"]) == (0, "ok")


@pytest.mark.slow
def test_every_tenth_shipped_problem_is_admitted_in_its_odd_shape(tmp_path: Path) -> None:
    chosen = [flag for problem in registry.discover()[4::10] for flag in ("-p", problem.id)]
    code, admissions, _ = called("--shapes", "odd", "--results", str(tmp_path), *chosen)
    assert (code, len(admissions)) == (0, 25), [a["findings"] for a in admissions if a["standing"] == "fault"]
    assert all(admission["killed"] == admission["mutants"] > 3 for admission in admissions)


@pytest.mark.parametrize("at_once", [1, 2])
def test_where_memory_holds_few_families_at_once_all_of_them_are_looked_at_in_turn(
    at_once: int, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stand, "needed_bytes", lambda self, families: 0 if families <= at_once else 1 << 60)
    (problem,) = registry.select(registry.discover(suite), (1,), ["14_shifted"], None)
    case = problem_case(problem, Settings(device="cpu", shapes="small"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    lane = Lane(sandbox.choose(), tmp_path, scratch)
    try:
        found = decode(
            Examined, lane.admit({"problem": encode(case), "quick": True, "values_only": False, "lanes": 1})["found"]
        )
    finally:
        lane.close()
    (naive,) = (trial for trial in found.trials if "the maximum is not taken off" in trial.mutant)
    assert (naive.outcome, naive.families) == (Outcome.KILLED, ("default", "large"))
    values = [finding.evidence for finding in found.findings if finding.check == "values"]
    assert [sum(family in told for told in values) for family in ("default", "large")] == [1, 1]
    assert len(values) == 2 // at_once
    assert all(trial.outcome is not Outcome.SURVIVED for trial in found.trials)
