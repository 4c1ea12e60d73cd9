"""Rows, ranks and cells; the three text forms; and the published overall rows out of the published level rows."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbench import attestation, leaderboard
from kbench.aggregate import summarise
from kbench.cli import main
from kbench.cli.leaderboard import run_folders
from kbench.files import csv_text, json_text, write_atomic
from kbench.reference_rows import Figures, ReferenceRow, sources
from kbench.report import board
from kbench.store import to_line
from kbench.types import Record, Status

from .making import info, record, reply, verdict

PAPER = sources()[0]


def stored(folder: Path, run_id: str, records: list[Record], **more: Any) -> Path:
    problems = more.pop("problems", {r.problem_id: "hash" for r in records})
    config = {"model": f"local/{run_id}", "precision": "fp32", "policy": "custom", "shapes": "small"} | more.pop(
        "config", {}
    )
    write_atomic(folder / run_id / "run.json", json_text(info(run_id=run_id, problems=problems, config=config, **more)))
    write_atomic(folder / run_id / "attempts.jsonl", b"".join(to_line(r) for r in records))
    return folder / run_id


def records(right: int, count: int = 20, speed: float = 1.5, **more: Any) -> list[Record]:
    return [
        record(f"level1/{i}_p", compiled=speed, **more)
        if i <= right
        else record(f"level1/{i}_p", Status.INCORRECT, **more)
        for i in range(1, count + 1)
    ]


def placed(found: Sequence[leaderboard.Row]) -> dict[str, leaderboard.Rank]:
    """Ranks over all levels by the run's name, which is its folder's here."""
    return {Path(folder).name: rank for folder, rank in leaderboard.ranks(found, None).items()}


def rows(*folders: Path) -> list[leaderboard.Row]:
    found, unreadable = leaderboard.read_rows(folders)
    assert not unreadable
    return found


# ---- ranks and cells ---------------------------------------------------------------------------------------------------


def test_rows_are_ranked_by_the_share_that_is_faster_than_compile(tmp_path: Path) -> None:
    found = rows(*(stored(tmp_path, name, records(n)) for name, n in (("low", 4), ("high", 18), ("middle", 12))))
    [only] = leaderboard.boards(found)
    assert [row.run_id for row in only.rows] == ["high", "middle", "low"]
    ranks = placed(only.rows)
    assert [ranks[name].place for name in ("high", "middle", "low")] == [1, 2, 3]


def test_a_rank_says_which_places_its_interval_leaves_open(tmp_path: Path) -> None:
    found = rows(*(stored(tmp_path, name, records(n)) for name, n in (("a", 19), ("b", 17), ("c", 2))))
    ranks = placed(found)
    # Wilson: 19 of 20 is 76-99 %, 17 of 20 is 64-95 %, 2 of 20 is 3-30 %.
    assert [(ranks[n].best, ranks[n].worst) for n in "abc"] == [(1, 2), (1, 2), (3, 3)]


def test_without_compile_times_the_rows_are_ranked_by_eager(tmp_path: Path) -> None:
    def timed(speed: float) -> list[Record]:
        return [record(f"level1/{i}_p", eager=speed) for i in range(4)]

    found = rows(stored(tmp_path, "slow", timed(0.5)), stored(tmp_path, "fast", timed(1.5)))
    [only] = leaderboard.boards(found)
    assert [row.run_id for row in only.rows] == ["fast", "slow"]
    assert placed(only.rows)["slow"].place == 2


def test_runs_of_one_name_from_two_people_are_two_rows(tmp_path: Path) -> None:
    found = rows(stored(tmp_path / "ann", "run", records(3)), stored(tmp_path / "bob", "run", records(9)))
    assert sorted(rank.place for rank in leaderboard.ranks(found, None).values()) == [1, 2]


def test_rows_read_in_several_processes_are_those_read_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [stored(tmp_path, f"run-{n}", records(n)) for n in range(4)]
    alone = rows(*folders)
    monkeypatch.setattr(leaderboard, "LARGE_BYTES", 0)
    monkeypatch.setattr(leaderboard.os, "sched_getaffinity", lambda pid: {0, 1})
    assert rows(*folders) == alone


def test_a_run_that_cannot_be_read_is_left_out_and_told_from_another_process_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [stored(tmp_path, f"run-{n}", records(n)) for n in range(2)]
    (folders[1] / "attempts.jsonl").write_text("not a record\n")
    monkeypatch.setattr(leaderboard, "LARGE_BYTES", 0)
    monkeypatch.setattr(leaderboard.os, "sched_getaffinity", lambda pid: {0, 1})
    found, unreadable = leaderboard.read_rows(folders)
    assert [Path(row.folder).name for row in found] == ["run-0"]
    assert len(unreadable) == 1
    assert "attempts.jsonl:1: holds no whole record" in unreadable[0]


def test_equal_rows_share_a_place(tmp_path: Path) -> None:
    found = rows(*(stored(tmp_path, name, records(9)) for name in "ab"))
    assert [rank.place for rank in leaderboard.ranks(found, None).values()] == [1, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"suite_hash": "another"}, {"environment": {"model": "H200"}}, {"protocol": {"name": "quick"}}, {"kbench_version": "2.0"},
        {"config": {"precision": "bf16"}}, {"config": {"policy": "pure"}}, {"config": {"shapes": "full"}},
    ],
)  # fmt: skip
def test_rows_of_different_cells_are_never_ranked_together(tmp_path: Path, change: dict[str, Any]) -> None:
    found = rows(stored(tmp_path, "a", records(3)), stored(tmp_path, "b", records(9), **change))
    boards = leaderboard.boards(found)
    assert [len(one.rows) for one in boards] == [1, 1]
    assert all(placed(one.rows)[one.rows[0].run_id].place == 1 for one in boards)


def test_a_partial_run_says_so_and_has_no_rank(tmp_path: Path) -> None:
    asked = {f"level1/{i}_p": "hash" for i in range(1, 21)}
    partial = stored(tmp_path, "partial", records(5, count=5), problems=asked)
    found = rows(stored(tmp_path, "whole", records(3)), partial)
    [only] = leaderboard.boards(found)
    assert only.rows[-1].run_id == "partial"
    assert "partial: 15 missing" in only.rows[-1].caveats
    assert set(placed(only.rows)) == {"whole"}


def test_a_run_that_left_out_what_another_one_of_its_cell_judged_has_no_rank(tmp_path: Path) -> None:
    fails, left_out = record("level1/21_p", Status.INCORRECT), record("level1/21_p", None, not_run="needs 17.2 GB")
    runs = [[*records(15), fails], [*records(15), left_out], [*records(15), left_out]]
    found = rows(*(stored(tmp_path, f"run-{n}", those) for n, those in enumerate(runs)))
    assert set(placed(found)) == {"run-0"}
    assert "1 problem not run that others of the cell ran" in found[1].caveats
    assert set(placed(rows(tmp_path / "run-1", tmp_path / "run-2"))) == {"run-1", "run-2"}


def test_a_row_below_the_full_sandbox_says_so(tmp_path: Path) -> None:
    weak = verdict(Status.INCORRECT, sandbox="rlimits")
    [row] = rows(stored(tmp_path, "weak", [record("level1/1_p", Status.INCORRECT, verdict=weak)]))
    assert "below full sandbox: rlimits" in row.caveats


def test_a_row_is_unverified_until_verify_says_otherwise_and_again_after_a_change(tmp_path: Path) -> None:
    folder = stored(tmp_path, "a", records(3))
    assert "unverified" in rows(folder)[0].caveats
    attestation.write(folder, attestation.Attestation("0.1", "now", attestation.content_hash(folder), ()))
    assert rows(folder)[0].caveats == ()
    with (folder / "attempts.jsonl").open("ab") as file:
        file.write(to_line(record("level1/1_p", compiled=9.0)))
    assert rows(folder)[0].caveats == ("changed since it was verified",)


def test_a_row_that_verify_found_fault_with_says_so(tmp_path: Path) -> None:
    folder = stored(tmp_path, "a", records(3))
    attestation.write(folder, attestation.Attestation("0.1", "now", attestation.content_hash(folder), ("one", "two")))
    assert rows(folder)[0].caveats == ("verify found 2 differences",)


def test_cost_and_tokens_are_per_solved_problem_and_unknown_without_any(tmp_path: Path) -> None:
    paid = {"reply": reply(tokens_input=100, tokens_output=300, cost_usd=0.5)}
    solved, unsolved, free = rows(
        stored(tmp_path, "solved", records(5, **paid)), stored(tmp_path, "unsolved", records(0, **paid)),
        stored(tmp_path, "free", records(5)),
    )  # fmt: skip
    assert (solved.cost_per_solved_usd, solved.tokens_per_solved) == (2.0, 1600.0)
    assert (unsolved.cost_per_solved_usd, free.cost_per_solved_usd) == (None, None)


# ---- Markdown, CSV, JSON -----------------------------------------------------------------------------------------------


def test_every_figure_of_the_csv_is_that_of_the_summary(tmp_path: Path) -> None:
    [row] = rows(stored(tmp_path, "a", records(7)))
    lines = list(csv.DictReader(io.StringIO(board.as_csv(leaderboard.boards([row]), ()))))
    [rate] = [line for line in lines if (line["scope"], line["metric"]) == ("overall", "pass_rate")]
    assert float(rate["value"]) == 0.35
    interval = row.summary.overall.pass_rate.interval
    assert interval is not None
    assert (float(rate["low"]), float(rate["high"])) == (interval.low, interval.high)
    assert {line["scope"] for line in lines} == {"overall", "level1"}
    assert {line["parameter"] for line in lines if line["metric"] == "fast_p_compile"} >= {"0.5", "1", "2"}


def test_pass_at_k_says_over_how_many_problems_it_is_known(tmp_path: Path) -> None:
    # Problem 1: right and wrong; 2: one sample, wrong; 10: two right.
    known = [("1", 0, True), ("1", 1, False), ("2", 0, False), ("10", 0, True), ("10", 1, True)]
    attempts = [
        record(f"level1/{p}_p", Status.CORRECT if right else Status.INCORRECT, sample) for p, sample, right in known
    ]
    [row] = rows(stored(tmp_path, "short", attempts, samples=2))
    lines = list(csv.DictReader(io.StringIO(board.as_csv(leaderboard.boards([row]), ()))))
    of_k = {line["parameter"]: line for line in lines if (line["scope"], line["metric"]) == ("level1", "pass_at_k")}
    assert (float(of_k["1"]["value"]), of_k["1"]["over"]) == (0.5, "3")
    assert (of_k["2"]["over"], of_k["2"]["of"]) == ("2", "3")
    assert row.caveats == ("partial: 1 missing", "unverified")


def test_markdown_keeps_a_hostile_name_plain(tmp_path: Path) -> None:
    folder = stored(tmp_path, "a", records(3), config={"model": "x|<script>alert(1)</script>[a](javascript:b)"})
    text = board.as_markdown(leaderboard.boards(rows(folder)), ())
    assert "<script>" not in text
    assert "](javascript" not in text
    [line] = [line for line in text.splitlines() if "script" in line and "level" not in line][:1]
    assert line.replace("\\|", "").count("|") == 14


def test_published_rows_stand_apart_and_refusals_are_not_scored(tmp_path: Path) -> None:
    boards = leaderboard.boards(rows(stored(tmp_path, "a", records(3))))
    value = board.as_json(boards, sources())
    assert [row["run_id"] for one in value["boards"] for row in one["rows"]] == ["a"]
    names = [row["model"] for source in value["published"] for row in source["rows"]]
    assert {"CUDA Agent", "GPT-5", "torch.compile"} <= set(names)
    assert all(not row.scopes and "declined" in row.note for row in PAPER.rows if row.model.startswith("GPT-5"))
    assert all(source.date for source in sources() if source.url)


def test_the_command_writes_all_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(3):
        stored(tmp_path, f"ckpt-{i}", records(5 + i), created=f"2026-01-0{i + 1}T00:00:00+00:00")
    with pytest.raises(SystemExit) as ended:
        main(["leaderboard", "--results", str(tmp_path), "--md", str(tmp_path / "b.md"), "--csv", str(tmp_path / "b.csv"), "--json",
              "--history", "ckpt-*"])  # fmt: skip
    assert ended.value.code == 0
    value = json.loads(capsys.readouterr().out)
    assert [entry["pass_rate"]["value"] for entry in value["history"]] == [0.25, 0.3, 0.35]
    assert "## History" in (tmp_path / "b.md").read_text()
    assert "ckpt-0" in (tmp_path / "b.csv").read_text()


def test_what_cannot_be_read_is_told_and_the_others_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, words in enumerate(("[" * 100_000, '{"run_id": 3}', "\ud800")):
        stored(tmp_path, f"bad-{n}", records(1))
        (tmp_path / f"bad-{n}" / "run.json").write_text(words, errors="surrogatepass")
    stored(tmp_path, "good", records(5))
    (tmp_path / "folder" / "run.json").mkdir(parents=True)
    for more in ([], ["--html", str(tmp_path / "page")]):
        with pytest.raises(SystemExit) as ended:
            main(["leaderboard", "--results", str(tmp_path), "--json", *more])
        out = capsys.readouterr()
        assert ended.value.code == 2
        value = json.loads(out.out)
        assert [row["run_id"] for board in value["boards"] for row in board["rows"]] == ["good"]
        assert len(value["unreadable"]) == len(out.err.strip().splitlines()) == 4
    assert "Left out: " in (tmp_path / "page" / "index.html").read_text()


@pytest.mark.parametrize("pattern", ["ckpt-*", "{}/ckpt-*", "./**/ckpt-*"])
def test_a_history_is_named_by_a_pattern_under_the_results_or_by_a_path(tmp_path: Path, pattern: str) -> None:
    stored(tmp_path / "results", "ckpt-1", records(5))
    assert run_folders(tmp_path / "results", pattern.format(tmp_path / "results")) == [tmp_path / "results" / "ckpt-1"]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["verdict"]["timing"]["speedups"][0].update(value=1e300),
        lambda r: r.update(reply={"model": "m", "tokens_input": 10**400}),
        lambda r: r.update(reply={"model": "m", "cost_usd": -1.0}),
        lambda r: r.update(problem_id="level1/" + "x" * 500, key=""),
        lambda r: r.update(sample=-1, key=""),
        lambda r: r.update(problem_id="level1/../../../../etc", key=""),
        lambda r: r.update(problem_id="/etc", key=""),
        lambda r: r["verdict"].update(detail=json.loads("[" * 500 + "]" * 500)),
    ],
)
def test_a_record_that_cannot_be_is_refused_by_its_line(tmp_path: Path, change: Any) -> None:
    folder = stored(tmp_path, "run", records(5))
    first, *others = (folder / "attempts.jsonl").read_text().splitlines()
    value = json.loads(first)
    change(value)
    (folder / "attempts.jsonl").write_text("\n".join([*others, json.dumps(value)]) + "\n")
    found, unreadable = leaderboard.read_rows([folder])
    assert not found
    assert "attempts.jsonl:20: Record" in unreadable[0]


def test_a_run_that_is_not_there_is_left_out_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(tmp_path, "a", records(3))
    with pytest.raises(SystemExit) as ended:
        main(["leaderboard", str(folder), "nope", "--results", str(tmp_path)])
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert "left out: no run 'nope'" in err
    assert "level 1" in out


def test_a_run_of_noisy_times_says_so(tmp_path: Path) -> None:
    quiet, noisy = records(3)[0], records(3)[1]
    assert noisy.verdict is not None
    assert noisy.verdict.timing is not None
    marked = replace(noisy.verdict, timing=replace(noisy.verdict.timing, flags=("noisy",)))
    (row,) = rows(stored(tmp_path, "a", [quiet, replace(noisy, verdict=marked)]))
    assert "1 of 2 timings noisy" in row.caveats


def test_a_name_is_no_formula_in_a_spreadsheet() -> None:
    text = csv_text(("name", "value"), [{"name": "=HYPERLINK(1)", "value": -1.5}, {"name": "@x"}, {"name": "a=b"}])
    assert text == "name,value\n'=HYPERLINK(1),-1.5\n'@x,\na=b,\n"


def test_no_run_is_one_line_and_exit_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["leaderboard", "--results", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("kbench: no run is there under")


# ---- the paper's overall rule ------------------------------------------------------------------------------------------


def level_records(level: int, figures: Figures) -> list[Record]:
    """Attempts whose rates and geometric means are exactly these: as many correct, as many of them faster, over each baseline."""
    assert figures.problems is not None
    assert figures.pass_rate is not None
    correct = round(figures.pass_rate * figures.problems)
    speeds = {
        name: split(figures.problems, correct, rate, mean)
        for name, rate, mean in (
            ("eager", figures.faster_eager, figures.geomean_vs_eager), ("compiled", figures.faster_compile, figures.geomean_vs_compile),
        )
    }  # fmt: skip
    return [
        record(f"level{level}/{i + 1}_p", eager=speeds["eager"][i], compiled=speeds["compiled"][i])
        if i < correct
        else record(f"level{level}/{i + 1}_p", Status.INCORRECT)
        for i in range(figures.problems)
    ]


def split(problems: int, correct: int, rate: float | None, mean: float | None) -> list[float]:
    """`correct` speed-ups of this geometric mean, of which rate * problems lie above 1."""
    assert rate is not None
    assert mean is not None
    fast = round(rate * problems)
    # The slow ones are slower by so much at least, or the mean would not hold.
    least = max(0.0, -math.log(mean)) * fast / max(correct - fast, 1)
    slow_log = min(math.log(mean), 0.0) - least - 0.1
    fast_log = (correct * math.log(mean) - (correct - fast) * slow_log) / fast
    assert fast_log > 0
    return [math.exp(fast_log)] * fast + [math.exp(slow_log)] * (correct - fast)


@pytest.mark.parametrize("row", [r for r in PAPER.rows if r.table == "Table 1"], ids=lambda row: row.model)
def test_the_papers_overall_row_comes_out_of_its_level_rows_by_our_aggregation(row: ReferenceRow) -> None:
    everything = [one for level in (1, 2, 3) for one in level_records(level, row.scopes[f"level{level}"])]
    overall = summarise(everything, [one.problem_id for one in everything], 1).overall
    published = row.scopes["overall"]
    eager, compiled = overall.baselines["eager"], overall.baselines["compile"]
    assert overall.problems == published.problems == 250
    for ours, theirs in ((overall.pass_rate, published.pass_rate), (eager.faster, published.faster_eager),
                         (compiled.faster, published.faster_compile)):  # fmt: skip
        assert ours.value == pytest.approx(theirs, abs=1e-9)
    for by_level, theirs in (
        (eager.geomean_by_level, published.geomean_vs_eager),
        (compiled.geomean_by_level, published.geomean_vs_compile),
    ):
        assert by_level is not None
        assert by_level.value == pytest.approx(theirs, abs=0.0051 + 0.005)  # both sides are rounded to 0.01


def test_pooling_correct_solutions_gives_another_overall_than_the_papers() -> None:
    [row] = [r for r in PAPER.rows if r.model == "Seed1.6"]
    everything = [one for level in (1, 2, 3) for one in level_records(level, row.scopes[f"level{level}"])]
    overall = summarise(everything, [one.problem_id for one in everything], 1).overall
    assert overall.baselines["compile"].geomean_correct.value == pytest.approx(0.761, abs=0.001)


def test_the_ablations_are_there_as_published() -> None:
    ablations = {r.model: r.scopes["overall"].faster_compile for r in PAPER.rows if "ablation" in r.table}
    assert sorted(ablations.values(), key=float) == [0.141, 0.498, 0.509, 0.604]  # type: ignore[arg-type]
