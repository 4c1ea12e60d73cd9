"""The formats are KernelBench's as its own scripts write and read them (423217d); the numbers are made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kbench.cli import main
from kbench.errors import ConfigError
from kbench.export import (
    baseline_times,
    eval_results,
    kernel_files,
    write_baseline,
    write_eval_results,
)
from kbench.types import BlockSample, Gate, Problem, Record, Status

from .making import filled, record, speedup, timing, verdict


def timed(problem: str, candidate_us: float, eager_us: float, sample: int = 0) -> Record:
    """Candidate blocks of one and four calls, with a fixed overhead of 5 us; calls of the long ones 10 % apart."""
    long = [(candidate_us * factor * 4 + 5) for factor in (0.9, 1.0, 1.1)]
    blocks = [BlockSample("candidate", 0, k, k * candidate_us + 500) for k in (0, 1)]
    blocks += [BlockSample("candidate", 0, 4, us) for us in long]
    measured = timing(speedup("eager", eager_us / candidate_us), samples=blocks, candidate_us=candidate_us)
    return record(problem, sample=sample, verdict=verdict(Status.CORRECT, measured, calls_checked=5))


def problem(identifier: str) -> Problem:
    return Problem(identifier, int(identifier[5]), "", "", "")


# ---- eval_results.json -----------------------------------------------------------------------------------------------


def test_problems_and_samples_are_in_numerical_order_under_their_numbers() -> None:
    records = [record(f"level1/{n}_p", sample=s) for n in ("10", "2", "001") for s in (1, 0)]
    results = eval_results(records, 1)
    assert {key: [entry["sample_id"] for entry in value] for key, value in results.items()} == {
        "1": [0, 1], "2": [0, 1], "10": [0, 1],
    }  # fmt: skip
    assert list(results) == ["1", "2", "10"]


def test_a_time_is_in_milliseconds_and_free_of_overhead() -> None:
    [entry] = eval_results([timed("level1/1_p", 2000, 5000)], 1)["1"]
    stats = entry["runtime_stats"]
    assert entry["runtime"] == stats["mean"] == 2.0
    assert (stats["min"], stats["max"], stats["num_trials"]) == (1.8, 2.2, 3)
    assert stats["std"] == pytest.approx(0.2)


def test_every_entry_has_the_fields_that_their_analysis_reads() -> None:
    [entry] = eval_results([timed("level1/1_p", 10, 20)], 1)["1"]
    assert entry.keys() == {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}
    assert entry["runtime_stats"].keys() == {"mean", "std", "min", "max", "num_trials", "hardware", "device"}
    assert entry["metadata"]["correctness_trials"] == "(5 / 5)"


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.CORRECT, Status.INFRA_ERROR)])
def test_a_failure_has_no_time_and_says_why(status: Status) -> None:
    [entry] = eval_results([record(status=status)], 1)["1"]
    assert (entry["correctness"], entry["runtime"], entry["runtime_stats"]) == (False, -1.0, {})
    assert entry["metadata"]["kbench_status"] == status
    assert f"it was {status}" in entry["metadata"].values()


@pytest.mark.parametrize("built", [True, False, None])
def test_compiled_is_what_the_build_gate_says(built: bool | None) -> None:
    slow = replace(verdict(Status.TIMEOUT), gates=(Gate("build", built, ""),))
    [entry] = eval_results([record(status=Status.TIMEOUT, verdict=slow)], 1)["1"]
    assert entry["compiled"] is (built is True)


@pytest.mark.parametrize("status", [Status.NO_CODE, Status.REFUSED, Status.POLICY])
def test_compiled_follows_the_status_where_no_gate_tells(status: Status) -> None:
    [entry] = eval_results([record(status=status, verdict=None)], 1)["1"]
    assert entry["compiled"] is (status is Status.POLICY)


def test_what_says_nothing_of_a_kernel_is_left_out() -> None:
    records = [record(status=Status.INFRA_ERROR), record("level1/2_p", None, not_run="needs 17.2 GB")]
    assert eval_results(records, 1) == {}


def test_the_last_record_of_an_attempt_is_exported() -> None:
    [entry] = eval_results([record(status=Status.INFRA_ERROR), record(status=Status.TAMPER)], 1)["1"]
    assert entry["metadata"]["kbench_status"] == "tamper"


def test_one_level_is_one_file_and_several_are_a_folder_each(tmp_path: Path) -> None:
    both = [record("level1/1_p"), record("level2/1_p", Status.TIMEOUT)]
    assert write_eval_results(both[:1], tmp_path) == [tmp_path / "eval_results.json"]
    assert write_eval_results(both, tmp_path) == [tmp_path / f"level{n}" / "eval_results.json" for n in (1, 2)]
    assert json.loads((tmp_path / "level2" / "eval_results.json").read_text())["1"][0]["correctness"] is False


# ---- baseline JSON ---------------------------------------------------------------------------------------------------


def test_a_baseline_is_known_by_level_and_file_name(tmp_path: Path) -> None:
    write_baseline([timed("level1/10_p", 2000, 5000), timed("level1/2_p", 10, 20)], "eager", tmp_path / "b.json")
    written = json.loads((tmp_path / "b.json").read_text())
    assert list(written["level1"]) == ["2_p.py", "10_p.py"]
    assert written["level1"]["10_p.py"]["mean"] == 5.0
    assert written["level1"]["10_p.py"]["std"] is None  # no block of that side was kept


def test_the_speed_up_that_their_score_computes_is_ours() -> None:
    one = timed("level1/1_p", 2000, 5000)
    [entry] = eval_results([one], 1)["1"]
    baseline = baseline_times([one], "eager")["level1"]["1_p.py"]
    assert baseline["mean"] / entry["runtime"] == pytest.approx(entry["metadata"]["speedup_vs_eager"])


def test_a_problem_that_was_never_timed_is_there_with_nulls() -> None:
    [entry] = baseline_times([record(status=Status.TIMEOUT)], "eager")["level1"].values()
    assert (entry["mean"], entry["num_trials"]) == (None, 0)


def test_a_failure_after_a_time_does_not_erase_it() -> None:
    records = [timed("level1/1_p", 10, 20), record("level1/1_p", Status.TIMEOUT, sample=1)]
    assert baseline_times(records, "eager")["level1"]["1_p.py"]["mean"] == 0.02


# ---- run folders -----------------------------------------------------------------------------------------------------


def folder_of(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).write_text("")
    return path


def test_kernels_are_found_by_their_names_in_numerical_order(tmp_path: Path) -> None:
    folder_of(
        tmp_path, "level_1_problem_10_sample_0_kernel.py", "level_1_problem_2_sample_1_kernel.py",
        "level_1_problem_2_sample_0_kernel.py", "level_1_problem_2_sample_0_prompt.txt", "eval_results.json",
        "old_level_1_problem_3_sample_0_kernel.py", "level_1_problem_x_sample_0_kernel.py",
    )  # fmt: skip
    assert [(f.level, f.number, f.sample) for f in kernel_files(tmp_path)] == [(1, 2, 0), (1, 2, 1), (1, 10, 0)]


def test_two_names_for_one_sample_are_refused(tmp_path: Path) -> None:
    folder_of(tmp_path, "level_1_problem_1_sample_0_kernel.py", "level_1_problem_01_sample_0_kernel.py")
    with pytest.raises(ConfigError, match="are the same sample"):
        kernel_files(tmp_path)


def test_a_folder_without_kernels_has_none(tmp_path: Path) -> None:
    assert kernel_files(tmp_path) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        kernel_files(tmp_path / "nowhere")


def test_a_problem_that_was_not_run_is_no_failure_in_their_analysis() -> None:
    # They count every problem of the baseline file; one that does not fit this device is in neither file.
    records = [record("level1/1_a", eager=2.0), record("level1/2_a", None, not_run="needs 17.2 GB")]
    records.append(record("level1/3_a", Status.INFRA_ERROR))
    assert list(baseline_times(records, "eager")["level1"]) == ["1_a.py"]
    assert list(eval_results(records, 1)) == ["1"]


def test_a_link_in_a_run_that_someone_sent_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, elsewhere = filled(tmp_path / "run"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "export").symlink_to(elsewhere)
    with pytest.raises(SystemExit) as ended:
        main(["export", str(folder)])
    assert ended.value.code == 2
    assert "--to" in capsys.readouterr().err
    assert not list(elsewhere.iterdir())
