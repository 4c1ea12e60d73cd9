"""What `kbench problems show` says beside a problem's source."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from kbench import registry
from kbench.cli import main
from kbench.costs import Costs
from kbench.known_times import KnownTimes, known_times
from kbench.report.problem import drawing, problem_parts
from kbench.roofline import Roof, roof

EXAMPLE = Path(__file__).parents[1] / "results" / "example"
RATES = {"read": 4e12, "write": 4e12, "copy": 4e12, "fp32": 40e12}
RELU = Costs(1 << 28, 1 << 30, 1 << 30, 0, 2 << 30, 2 << 30, 1 << 30, 0, {"relu": 1})


def shown(*arguments: object) -> str:
    console = Console(width=140)
    with console.capture() as caught:
        for part in problem_parts(*arguments):  # type: ignore[arg-type]
            console.print(part)
    return caught.get()


def test_costs_stand_beside_the_least_time_that_they_take() -> None:
    text = shown({"full": RELU, "small": None}, [], RATES, "NVIDIA H200", "fp32")
    # 2 GiB at 4 TB/s are 536.9 us, 2^28 operations at 40 TFLOP/s are 6.7 us.
    assert "0.268   2147 MB      0 MB       0.125     536.9 us       6.7 us   memory" in text
    assert "cannot be derived" in text
    assert "ridge 10" in text


def test_without_measured_rates_it_says_what_measures_them() -> None:
    assert "kbench doctor --device cuda:0 measures them" in shown({"full": RELU}, [], {}, "cuda:0", "fp32")


@pytest.mark.parametrize("intensity", [1e-5, 0.1, 10.0, 1e4])
def test_a_shape_stands_on_the_roof_on_its_side_of_the_ridge(intensity: float) -> None:
    found = roof(intensity * 1e9, 1e9, RATES, "fp32")
    assert isinstance(found, Roof)
    lines = list(drawing({"full": found}))
    marked = next(line for line in lines if "F" in line and line.startswith("  |"))
    assert ("-" in marked) == (intensity >= 10.0)
    assert len(lines) == 13


def test_baselines_are_found_in_runs_of_baselines_that_had_this_very_problem() -> None:
    problem = registry.find(registry.discover(), "level1/051_argmax")
    found = list(known_times(EXAMPLE, problem))
    assert [one.run for one in found] == ["demo-eager", "demo-compile"]
    assert all(set(one.latency_us) == {"eager", "compile"} for one in found)
    assert list(known_times(EXAMPLE, replace(problem, content_hash="0" * 64))) == []


def test_a_baseline_that_failed_says_why() -> None:
    failed = KnownTimes("night", "NVIDIA H200", "full", "fp32", "2026-12-03", {}, "needs 170 GB")
    assert "needs 170 GB" in shown({"full": RELU}, [failed], RATES, "cuda:0", "fp32")


@pytest.mark.slow
def test_show_prints_the_source_alone_to_stdout_and_all_of_it_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    problem = registry.find(registry.discover(), "019_relu")
    with pytest.raises(SystemExit):
        main(["problems", "show", "019_relu", "--device", "cpu"])
    out, err = capfd.readouterr()
    assert out.strip() == problem.source.strip()
    assert "FLOP/byte" in err
    with pytest.raises(SystemExit):
        main(["problems", "show", "019_relu", "--device", "cpu", "--json", "--results", str(EXAMPLE)])
    told = json.loads(capfd.readouterr().out)
    assert told["costs"]["small"]["operators"]
    assert told["source"] == problem.source
