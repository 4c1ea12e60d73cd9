"""Spread from A/A runs: pooled about zero, per class, kept per device, and used only where there are enough."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbench import calibration
from kbench.errors import SchemaError


def test_too_few_runs_calibrate_nothing() -> None:
    assert calibration.from_ratios({"<1ms": [0.01] * (calibration.MIN_RUNS - 1)}).sd == {}


def test_the_spread_is_about_zero_where_identical_workers_belong() -> None:
    found = calibration.from_ratios({"<1ms": [0.1, 0.1] * 20})
    assert found.sd["<1ms"] == pytest.approx(0.1)  # a standard deviation about the mean would say 0
    assert found.df["<1ms"] == 40


def test_devices_do_not_mix(tmp_path: Path) -> None:
    calibration.add(tmp_path, "one", [("<1ms", 0.1)] * 40)
    calibration.add(tmp_path, "two", [("<1ms", 0.3)] * 40)
    assert calibration.load(tmp_path, "one").sd["<1ms"] == pytest.approx(0.1)
    assert calibration.load(tmp_path, "three").sd == {}


def test_a_damaged_file_says_how_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / calibration.FILE).write_text(json.dumps({"version": 99}))
    with pytest.raises(SchemaError, match="--calibrate"):
        calibration.load(tmp_path, "one")
