from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from kbench.aggregate import FAST_P, summarise
from kbench.codec import decode, encode
from kbench.errors import ConfigError, SchemaError
from kbench.summary import Summary, read_summary, summary_csv, write_summary
from kbench.types import Status

from .making import record


def ids(count: int, level: int = 1) -> list[str]:
    return [f"level{level}/{n}_p" for n in range(1, count + 1)]


def rich() -> Summary:
    problems = ids(3) + ids(2, 2)
    right = [record(p, eager=1.5, sure=True) for p in problems]
    wrong = [record(p, status, 1 + n) for p in problems for n, status in enumerate((Status.REFUSED, Status.TIMEOUT))]
    return summarise(right + wrong, problems, 3)


def test_a_summary_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_summary(tmp_path, rich())
    assert read_summary(tmp_path) == rich()
    assert decode(Summary, encode(rich())) == rich()


def test_the_json_says_null_for_unknown(tmp_path: Path) -> None:
    write_summary(tmp_path, rich())
    text = (tmp_path / "summary.json").read_text()
    value = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert value["overall"]["baselines"]["compile"]["geomean_correct"]["value"] is None


def test_the_csv_holds_every_figure_of_every_level(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(summary_csv(rich()))))
    assert {row["scope"] for row in rows} == {"level1", "level2", "overall"}
    [rate] = [row for row in rows if (row["scope"], row["metric"]) == ("overall", "pass_rate")]
    assert float(rate["value"]) == rich().overall.pass_rate.value
    assert {row["parameter"] for row in rows if row["metric"] == "fast_p"} == set(FAST_P)
    assert {row["parameter"] for row in rows if row["metric"] == "pass_at_k"} == {"1", "2", "3"}
    assert [row["value"] for row in rows if row["metric"] == "cost_usd"] == [""] * 3


def test_a_folder_without_a_summary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no summary here"):
        read_summary(tmp_path)


def test_a_newer_summary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"schema": 9}')
    with pytest.raises(SchemaError, match="schema 9, this kbench reads up to 1"):
        read_summary(tmp_path)
