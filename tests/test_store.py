from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from kbench.errors import ConfigError, SchemaError
from kbench.store import RunStore, latest, load, read_info, to_line
from kbench.types import BlockSample, ErrorFigure, Status

from .making import THREE, attempts, filled, info, record, reply, speedup, timing, verdict, whole_lines

# ---- what is written is read -----------------------------------------------------------------------------------------


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    full = record(
        status=None, sample=3, not_run="needs 17.2 GB", solution_hash="ab", reply=reply(tokens_input=3, cost_usd=0.5)
    )
    timed = record(
        verdict=verdict(Status.CORRECT, timing(speedup("eager", 2, True), samples=[BlockSample("eager", 0, 4, 1.5)]))
    )
    assert load(filled(tmp_path, [*THREE, full, timed])).records == (*THREE, full, timed)


def test_the_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert load(filled(tmp_path)).info == info()


def test_a_line_is_plain_json_also_with_values_that_json_has_no_numbers_for(tmp_path: Path) -> None:
    odd = replace(
        verdict(Status.INCORRECT), errors=(ErrorFigure("max", math.inf, -math.inf, 1.0),), claims={"x": math.nan}
    )
    filled(tmp_path, [record(status=Status.INCORRECT, verdict=odd)])
    json.loads(attempts(tmp_path).read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    back = load(tmp_path).records[0].verdict
    assert back is not None
    assert back.errors == odd.errors
    assert math.isnan(back.claims["x"])


@pytest.mark.parametrize("text", ["\u2028 \x85 \x0c \r\n é 🙂", "not text: \udc80", '{"run_id":"x"}'])
def test_no_text_breaks_a_line_in_two(tmp_path: Path, text: str) -> None:
    one = record(status=Status.INCORRECT, verdict=replace(verdict(Status.INCORRECT), detail=text))
    filled(tmp_path, [one, THREE[0]])
    assert len(attempts(tmp_path).read_bytes().splitlines()) == 2
    assert load(tmp_path).records == (one, THREE[0])


def test_raw_samples_can_be_left_out_and_nothing_else_is(tmp_path: Path) -> None:
    samples = [BlockSample("eager", 0, 4, 1.5), BlockSample("candidate", 1, 8, 2.5)]
    bare = timing(speedup("eager", 2, True))
    filled(tmp_path, [record(verdict=verdict(Status.CORRECT, replace(bare, samples=tuple(samples))))])
    got = load(tmp_path, raw_samples=False).records[0].verdict
    assert got == verdict(Status.CORRECT, bare)


def test_an_append_is_in_the_file_when_it_returns(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        for count, one in enumerate(THREE, start=1):
            store.append(one)
            assert len(whole_lines(tmp_path)) == count


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_record_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    wrong = replace(verdict(Status.INCORRECT), build_seconds="soon")  # type: ignore[arg-type]
    with RunStore(filled(tmp_path)) as store, pytest.raises(SchemaError, match=r"level1/1_a#0: Record\.verdict"):
        store.append(record(status=Status.INCORRECT, verdict=wrong))
    assert load(tmp_path).records == tuple(THREE)


# ---- resume ----------------------------------------------------------------------------------------------------------


def test_kernel_verdicts_are_done_and_infrastructure_errors_are_not(tmp_path: Path) -> None:
    records = [record(sample=i, status=status) for i, status in enumerate(Status)]
    with RunStore(filled(tmp_path, records)) as store:
        assert store.done_keys() == {one.key for one in records if one.status is not Status.INFRA_ERROR}


def test_a_problem_that_does_not_fit_the_device_is_done(tmp_path: Path) -> None:
    with RunStore(filled(tmp_path, [record(status=None, not_run="needs 17.2 GB")])) as store:
        assert store.done_keys() == {"level1/1_a#0"}


@pytest.mark.parametrize("done", [True, False])
def test_the_last_record_of_an_attempt_decides(tmp_path: Path, done: bool) -> None:
    pair = [record(status=Status.INFRA_ERROR), record(status=Status.CORRECT)]
    records = pair if done else pair[::-1]
    with RunStore(filled(tmp_path, records)) as store:
        assert bool(store.done_keys()) is done
    assert latest(load(tmp_path).records) == [records[-1]]


def test_what_was_just_appended_is_done(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.append(THREE[0])
        assert store.done_keys() == {THREE[0].key}


def test_the_same_run_begins_again_and_keeps_what_it_stored(tmp_path: Path) -> None:
    filled(tmp_path)
    with RunStore(tmp_path) as store:
        assert store.begin(info(created="2027-01-01T00:00:00+00:00", environment={})) == info()


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"config": {"model": "local/stub", "level": [1, 2]}}, r"level \(\[1\] there, \[1, 2\] here\)"),
        ({"config": {"model": "local/stub", "level": [1], "turns": 3}}, r"turns \(none there, 3 here\)"),
        ({"suite_hash": "other"}, r"problems \(their text has changed\)"),
        ({"samples": 2}, r"samples \(1 there, 2 here\)"),
    ],
)
def test_another_run_in_the_same_folder_is_refused_and_the_difference_named(
    tmp_path: Path, other: dict[str, object], named: str
) -> None:
    filled(tmp_path)
    with RunStore(tmp_path) as store, pytest.raises(ConfigError, match=f"another {named};"):
        store.begin(info(**other))


def test_attempts_of_two_devices_do_not_mix_in_one_folder(tmp_path: Path) -> None:
    first, second = {"device": "cuda:0", "model": "NVIDIA H200"}, {"device": "cuda:0", "model": "NVIDIA L4"}
    with RunStore(tmp_path) as store:
        assert store.begin(info(environment={})) == info(environment={})  # only asked for so far
        assert store.begin(info(environment=first)) == info(environment=first)
        store.append(THREE[0])
    assert read_info(tmp_path) == info(environment=first)
    with RunStore(tmp_path) as store:
        assert store.begin(info(environment={"torch": "2.9"})) == info(environment=first)  # more replies are asked for
    with RunStore(tmp_path) as store, pytest.raises(ConfigError, match="this is NVIDIA L4"):
        store.begin(info(environment=second))


# ---- versions --------------------------------------------------------------------------------------------------------


def test_a_newer_record_is_refused_with_both_versions_named(tmp_path: Path) -> None:
    value = json.loads(to_line(filled(tmp_path) and THREE[0])) | {"schema": 7, "verdict": "of a shape to come"}
    attempts(tmp_path).write_text(json.dumps(value) + "\n")
    with pytest.raises(SchemaError, match="schema 7, this kbench reads up to 1"):
        load(tmp_path)


def test_a_newer_run_is_refused_with_both_versions_named(tmp_path: Path) -> None:
    path = filled(tmp_path) / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 7}))
    with pytest.raises(SchemaError, match="schema 7, this kbench reads up to 1"):
        read_info(tmp_path)


# ---- artifacts ------------------------------------------------------------------------------------------------------


def test_an_artifact_lies_where_its_attempt_says(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        where = store.write_artifact("level1/019_relu#2", "reply.txt", "text \udc80")
    assert where == "artifacts/level1/019_relu/2/reply.txt"
    assert (tmp_path / where).read_text() == "text \\udc80"


@pytest.mark.parametrize(
    ("key", "name"), [("level1/../..#0", "x"), ("/etc#0", "x"), ("a#0", "../x"), ("a#0", ""), ("a#0", "x/y")]
)
def test_an_artifact_cannot_leave_its_folder(tmp_path: Path, key: str, name: str) -> None:
    with RunStore(tmp_path) as store, pytest.raises(ValueError, match="no artifact"):
        store.write_artifact(key, name, "x")


# ---- records ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": None},
        {"not_run": "needs 17.2 GB"},
        {"key": "level1/1_a#1"},
        {"sample": -1},
        {"status": Status.TIMEOUT},
        {"verdict": None},
    ],
)
def test_a_record_that_contradicts_itself_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="level1/1_a#"):
        replace(record(), **wrong)  # type: ignore[arg-type]
