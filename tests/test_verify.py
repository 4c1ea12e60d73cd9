"""What verify must find: each kind of tampering with a stored run, and none where nothing was touched."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbench import attestation, rejudge
from kbench.aggregate import summarise
from kbench.cli import main
from kbench.codec import encode
from kbench.errors import ConfigError, SchemaError
from kbench.evaluate import Settings
from kbench.files import json_text, write_atomic
from kbench.referee.case import QUICK, Calibration
from kbench.referee.clock import assess
from kbench.registry import discover
from kbench.source import source_hash
from kbench.store import load, to_line
from kbench.summary import write_summary
from kbench.types import (
    BlockSample,
    ErrorFigure,
    Interval,
    Mismatch,
    Precision,
    Problem,
    Record,
    Solution,
    Speedup,
    Status,
    Verdict,
)
from kbench.verify import findings

from .making import info, record, verdict

SOURCE = "class ModelNew: ...\n"
CONFIG: dict[str, object] = {
    "model": "replay/x", "samples": 1, "suite": None, "device": "cpu", "shapes": "small", "precision": "fp32", "protocol": "quick",
    "policy": "custom", "baselines": "('eager', 'compile')", "timeout_s": "60.0", "require_sandbox": "False", "fresh_references": "False",
}  # fmt: skip


def blocks() -> list[BlockSample]:
    times = {"candidate": 10.0, "eager": 18.0, "compile": 12.0}
    rounds = QUICK.timed_rounds((4, 8, 12, 16))
    empty = [BlockSample("eager", 0, 0, 0.0) for _ in rounds]
    return [*empty, *(BlockSample(side, 0, k, k * t) for side, t in times.items() for k in rounds)]


def attempt(problem: str, status: Status = Status.CORRECT) -> Record:
    timing = (
        assess(blocks(), ["eager", "compile"], Calibration(), interval=False, device="cpu")
        if status is Status.CORRECT
        else None
    )
    more = {"sandbox": "namespaces", "protocol": "quick"}
    found = verdict(status, timing, **more)
    told = {
        "policy": "custom; claimed by its process: 90% own code, 0% library",
        "clock": f"{len(blocks())} blocks of 5 different K, idle sides stopped by SIGSTOP",
    }
    found = replace(found, message="" if status is Status.CORRECT else found.message)
    found = replace(
        found, gates=tuple(replace(gate, evidence=told.get(gate.name, gate.evidence)) for gate in found.gates)
    )
    return record(problem, status, verdict=found, solution_hash=source_hash(SOURCE), origin="replay/x")


def stored(folder: Path, change: Any = lambda record: record, **more: Any) -> Path:
    """A run of two kbench problems, its summary that of the records before `change` touched each of them."""
    problems = {p.id: p.content_hash for p in discover() if p.id in ("level1/019_relu", "level2/001_conv_relu_bias")}
    fields: dict[str, Any] = {
        "config": CONFIG, "protocol": encode(QUICK), "problems": problems, "environment": {"device": "cpu", "kbench": "0.1.0"},
    }  # fmt: skip
    records = [attempt("level1/019_relu"), attempt("level2/001_conv_relu_bias", Status.INCORRECT)]
    write_atomic(folder / "run.json", json_text(info(**(fields | more))))
    write_atomic(folder / "attempts.jsonl", b"".join(to_line(change(r)) for r in records))
    for r in records:
        write_atomic(folder / "artifacts" / r.problem_id / "0" / "solution.py", SOURCE)
    write_summary(folder, summarise(records, list(problems), 1))
    return folder


def test_an_untouched_run_has_no_findings(tmp_path: Path) -> None:
    assert findings(stored(tmp_path)) == []


def test_a_run_may_be_named_by_any_path(tmp_path: Path) -> None:
    assert findings(stored(tmp_path / "run") / ".." / "run") == []


def faster(record: Record) -> Record:
    if record.verdict is None or record.verdict.timing is None:
        return record
    timing = record.verdict.timing
    speedups = tuple(replace(s, value=s.value * 2) for s in timing.speedups)
    return replace(record, verdict=replace(record.verdict, timing=replace(timing, speedups=speedups)))


def shorter(record: Record, field: str = "latency_us") -> Record:
    if record.verdict is None or record.verdict.timing is None:
        return record
    timing = record.verdict.timing
    changed = {field: getattr(timing, field) | {"candidate": 1.0}}
    return replace(record, verdict=replace(record.verdict, timing=replace(timing, **changed)))


def lonely(record: Record) -> Record:
    return shorter(record, "single_call_us")


def surer(record: Record) -> Record:
    if record.verdict is None or record.verdict.timing is None:
        return record
    timing = record.verdict.timing
    speedups = tuple(Speedup(s.baseline, s.value, Interval(s.value, s.value * 1.5), s.pairs) for s in timing.speedups)
    return replace(record, verdict=replace(record.verdict, timing=replace(timing, speedups=speedups)))


def certain(record: Record) -> Record:
    if record.verdict is None or record.verdict.timing is None:
        return record
    timing = record.verdict.timing
    speedups = tuple(replace(s, interval=Interval(s.value / 1.01, s.value * 1.01)) for s in timing.speedups)
    return replace(record, verdict=replace(record.verdict, timing=replace(timing, speedups=speedups)))


def unsampled(record: Record) -> Record:
    if record.verdict is None or record.verdict.timing is None:
        return record
    return replace(record, verdict=replace(record.verdict, timing=replace(record.verdict.timing, samples=())))


def passed(record: Record) -> Record:
    return attempt(record.problem_id)


def weak(record: Record) -> Record:
    assert record.verdict is not None
    return replace(record, verdict=replace(record.verdict, sandbox="rlimits"))


def of_verdict(**changes: Any) -> Any:
    def change(record: Record) -> Record:
        if record.status is not Status.CORRECT or record.verdict is None:
            return record
        return replace(record, verdict=replace(record.verdict, **changes))

    return change


def worse(record: Record) -> Record:
    assert record.verdict is not None
    if record.status is not Status.CORRECT:
        return record
    return replace(record, status=Status.INCORRECT, verdict=replace(record.verdict, status=Status.INCORRECT))


def elsewhere(record: Record) -> Record:
    assert record.verdict is not None
    return replace(record, verdict=replace(record.verdict, protocol="strict"))


def unlike(**changes: Any) -> Any:
    """Changes the timing of a record that has one, each field by a function."""

    def change(record: Record) -> Record:
        if record.verdict is None or record.verdict.timing is None:
            return record
        timing = record.verdict.timing
        changed = replace(timing, **{name: made(getattr(timing, name)) for name, made in changes.items()})
        return replace(record, verdict=replace(record.verdict, timing=changed))

    return change


def ungated(record: Record) -> Record:
    assert record.verdict is not None
    gates = tuple(gate for gate in record.verdict.gates if gate.name != "decoys")
    return replace(record, verdict=replace(record.verdict, gates=gates))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (ungated, "019_relu#0: correct without a word from decoys"),
        (unlike(speedups=lambda s: s[:1]), "not timed against compile, and nothing says why"),
        (unlike(samples=lambda s: tuple(replace(b, pair=2) for b in s)), "blocks of pairs [2]; quick times 1"),
        (
            unlike(samples=lambda s: tuple(b for b in s if b.side != "compile" or b.k != 4)),
            "do not have the same blocks",
        ),
        (
            unlike(samples=lambda s: tuple(b for b in s if b.k != 1)),
            "5 blocks a side in pair 0; quick times 7 at least",
        ),
        (unlike(samples=lambda s: tuple(replace(b, elapsed_us=1e300) for b in s)), "its samples give no time"),
        (faster, "3.6x eager is stored, its samples give 1.8x"),
        (shorter, "1 us for a call of candidate is stored, its samples give 10"),
        (lonely, "1 us for a call alone of candidate is stored"),
        (surer, "does not lie round"),
        (unsampled, "raw samples are missing"),
        (passed, "summary.overall.pass_rate.value: 0.5 is stored, the records give 1.0"),
        (weak, "level1/019_relu#0, level2/001_conv_relu_bias#0: judged in sandbox rlimits, below the full one"),
        (elsewhere, "not judged under quick"),
        (lambda r: replace(r, solution_hash="0" * 64), "the stored solution is not the one that was judged"),
        (lambda r: replace(r, run_id="other"), "not of run run"),
        (
            lambda r: replace(r, status=None, verdict=None, not_run="needs 17.2 GB"),
            "said to be too large for the device, and a solution of it is stored",
        ),
        (lambda r: replace(r, status=Status.REFUSED, verdict=None), "refused, and a solution of it was judged"),
        (lambda r: replace(r, exempt=True), "comes from replay/x, and is said to be a baseline"),
        (lambda r: replace(r, origin="builtin/eager"), "comes from builtin/eager, and is not said to be a baseline"),
        (worse, "level1/019_relu#0: incorrect, and every gate passed"),
        (of_verdict(calls_checked=10**9), "1000000000 calls checked of 240 made"),
        (
            of_verdict(errors=(ErrorFigure("max", 2.0, 0.1, 1.0),)),
            "019_relu#0: correct, and its error is above the budget",
        ),
        (
            of_verdict(mismatch=Mismatch("output", (0,), 1.0, 2.0, 1, 4)),
            "019_relu#0: correct, and a wrong element stands beside it",
        ),
        (
            unlike(samples=lambda s: tuple(b for b in s if b.k)),
            "0 empty blocks in",
        ),
        (passed, "level2/001_conv_relu_bias#0: the blocks of pair 0 are those of level1/019_relu#0, pair 0"),
        (unlike(flags=lambda f: ()), "019_relu#0: not timed as quick times"),
        (of_verdict(message="PyTorch did the work"), "correct, and PyTorch did the work"),
        (of_verdict(calls_made=0, calls_checked=0), "correct, and no call was checked"),
        (unlike(flags=lambda f: ("slower_alone",)), "its samples are not slower_alone, which is stored"),
        (unlike(overhead_us=lambda o: o + 1), "an overhead of"),
        (unlike(speedups=lambda s: tuple(replace(one, pairs=(99.0,)) for one in s)), "the pairs' ratios over eager"),
        (unlike(speedups=lambda s: (*s, s[0])), "a speed-up twice"),
        (unlike(latency_us=lambda _: {}), "times of no side; timed were candidate, compile, eager"),
        (unlike(samples=lambda s: (*s, replace(s[-1], side="other"))), "blocks of other that no speed-up is over"),
        (lambda r: replace(r, sample=7, key=""), "no sample of a run of 1"),
        (lambda r: replace(r, solution_hash=None), "judged, and no solution stands on record"),
        (
            lambda r: replace(r, exempt=r.problem_id.startswith("level1")),
            "level1/019_relu#0: a baseline's attempt among a model's",
        ),
        (certain, "an interval, which quick has none of"),
    ],
)
def test_a_changed_record_is_found(tmp_path: Path, change: Any, says: str) -> None:
    assert any(says in line for line in findings(stored(tmp_path, change))), findings(tmp_path)


def test_an_attempt_that_is_correct_after_it_was_not_is_found(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    first = replace(attempt("level1/019_relu", Status.INCORRECT), solution_hash="0" * 64)
    lines = (folder / "attempts.jsonl").read_bytes()
    write_atomic(folder / "attempts.jsonl", to_line(first) + lines)
    assert findings(folder) == ["level1/019_relu#0: made anew after a verdict"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Status.CORRECT, Status.CORRECT), (Status.CORRECT, Status.INCORRECT), (Status.INCORRECT, Status.TIMEOUT),
        (Status.INCORRECT, None), (None, Status.CORRECT),
    ],
)  # fmt: skip
def test_a_second_record_after_one_that_settled_the_attempt_is_found(
    tmp_path: Path, first: Status | None, second: Status | None
) -> None:
    folder = stored(tmp_path)
    lines = (folder / "attempts.jsonl").read_bytes().splitlines(keepends=True)
    too_large = record("level1/019_relu", None, not_run="needs 17.2 GB")
    pair = [attempt("level1/019_relu", status) if status else too_large for status in (first, second)]
    write_atomic(folder / "attempts.jsonl", b"".join([*map(to_line, pair), *lines[1:]]))
    assert "level1/019_relu#0: made anew after a verdict" in findings(folder)


def test_what_an_infrastructure_error_cut_off_may_be_made_again_and_a_stored_solution_exchanged(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    lines = (folder / "attempts.jsonl").read_bytes()
    failed = record("level1/019_relu", Status.INFRA_ERROR)
    other = replace(attempt("level2/001_conv_relu_bias"), solution_hash="0" * 64)
    write_atomic(folder / "attempts.jsonl", to_line(failed) + to_line(other) + lines)
    assert findings(folder) == []


def test_a_run_that_asks_for_no_sample_or_too_many_cannot_be_read(tmp_path: Path) -> None:
    for samples in (0, -5, 10**30):
        folder = stored(tmp_path / str(samples))
        text = (folder / "run.json").read_text().replace('"samples":1,"schema"', f'"samples":{samples},"schema"')
        write_atomic(folder / "run.json", text)
        with pytest.raises(SchemaError, match="samples a problem"):
            findings(folder)


def test_a_suite_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        findings(stored(tmp_path), tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"protocol": encode(QUICK) | {"oracle_s": 0.0}}, "protocol.oracle_s: 0.0 is stored"),
        ({"protocol": {"name": "lenient"}}, "protocol 'lenient' is none of this kbench's"),
        ({"suite_hash": "0" * 64}, "suite hash 000000000000 is not that of the problems listed"),
        ({"samples": 2}, "the run is not complete: 0 infrastructure errors, 2 missing"),
        ({"samples": 2}, "run.json: samples is 1 in one place and 2 in another"),
        ({"config": CONFIG | {"policy": "xyz"}}, "policy 'xyz' is none of any, custom, pure"),
        ({"config": CONFIG | {"policy": "pure"}}, "level1/019_relu#0: not judged under policy pure"),
        ({"config": CONFIG | {"protocol": "strict"}}, "run.json: protocol is strict in one place and quick in another"),
        ({"config": CONFIG | {"device": ""}}, "run.json: device is  in one place and cpu in another"),
        ({"environment": {}}, "run.json: kbench is 0.1.0 in one place and None in another"),
        ({"environment": {"device": "cuda:0", "kbench": "0.1.0"}}, "run.json: device is cpu in one place and cuda"),
        ({"kbench_version": "9.0.0"}, "run.json: kbench is 9.0.0 in one place and 0.1.0 in another"),
    ],
)
def test_a_changed_run_file_is_found(tmp_path: Path, more: dict[str, Any], says: str) -> None:
    assert any(says in line for line in findings(stored(tmp_path, **more))), findings(tmp_path)


def test_a_problem_that_has_changed_since_is_found(tmp_path: Path) -> None:
    problems = {"level1/019_relu": "0" * 64, "level2/001_conv_relu_bias": "0" * 64}
    assert any(
        "019_relu: the problem has changed since" in line for line in findings(stored(tmp_path, problems=problems))
    )


def test_a_solution_that_is_gone_is_found(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    (folder / "artifacts" / "level1/019_relu" / "0" / "solution.py").unlink()
    assert findings(folder) == ["level1/019_relu#0: the solution that was judged is not stored"]


def test_verify_keeps_what_it_found_beside_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for change, code in ((lambda r: r, 0), (faster, 1)):
        folder = stored(tmp_path / str(code), change)
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(folder), "--json"])
        assert ended.value.code == code
        value = json.loads(capsys.readouterr().out)
        kept = attestation.read(folder)
        assert kept is not None
        assert list(kept.findings) == value["findings"]
        assert (attestation.doubt(folder) is None) == (code == 0)


# ---- judging again -----------------------------------------------------------------------------------------------------


class Stub:
    def __init__(self, status: Status, ratio: float = 1.8) -> None:
        self.status, self.ratio = status, ratio
        self.asked: list[tuple[str, str]] = []

    def judge(self, problem: Problem, solution: Solution) -> Verdict:
        self.asked.append((problem.id, solution.source))
        return verdict(self.status)


def again(folder: Path, status: Status) -> list[rejudge.Again]:
    run = load(folder)
    chosen = rejudge.choose(run, 1, random.Random(1))
    return rejudge.rejudge(run, chosen, Stub(status).judge, None, lambda text: None)


def test_an_attempt_that_is_judged_otherwise_is_a_finding(tmp_path: Path) -> None:
    run = load(stored(tmp_path))
    stub = Stub(Status.CORRECT)
    found = rejudge.rejudge(run, rejudge.choose(run, 9, random.Random(1)), stub.judge, None, lambda text: None)
    assert [(one.key, one.differs) for one in found] == [
        ("level1/019_relu#0", None),
        ("level2/001_conv_relu_bias#0", "was incorrect, is correct: it was correct"),
    ]
    assert stub.asked[0] == ("level1/019_relu", SOURCE)


def test_a_solution_that_was_exchanged_is_not_judged(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    for path in folder.rglob("solution.py"):
        path.write_text("import os\n")
    [one] = again(folder, Status.CORRECT)
    assert one.differs == "the stored solution is not the one that was judged"


def test_settings_come_back_from_what_a_run_stores() -> None:
    settings = Settings("cpu", "small", Precision.BF16, "strict", "any", ("eager",), 12.5, True)
    stored_config = {name: str(getattr(settings, name)) for name in Settings.__slots__}
    assert rejudge.settings_of(stored_config) == settings


@pytest.mark.parametrize(
    ("name", "text"), [("baselines", "__import__('os')"), ("timeout_s", "soon"), ("precision", "fp1")]
)
def test_a_configuration_that_kbench_never_wrote_is_refused(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        rejudge.settings_of({name: text})
