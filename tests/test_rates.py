"""What devices were measured to do, kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbench import rates
from kbench.devices.cpu import Cpu


def test_the_best_of_all_measurements_is_kept_a_device(tmp_path: Path) -> None:
    assert rates.load(tmp_path, "a") == {}
    rates.keep(tmp_path, "a", {"read": 4.0, "fp32": 1.0})
    assert rates.keep(tmp_path, "a", {"read": 3.0, "fp32": 2.0}) == {"read": 4.0, "fp32": 2.0}
    rates.keep(tmp_path, "b", {"read": 1.0})
    assert rates.load(tmp_path, "a") == {"read": 4.0, "fp32": 2.0}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": {"read": "x"}}', "\x00"])
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / rates.FILE).write_text(text)
    assert rates.load(tmp_path, "a") == {}
    assert rates.keep(tmp_path, "a", {"read": 1.0}) == {"read": 1.0}


def test_rates_are_told_with_their_unit() -> None:
    assert rates.told("read", 4.35e12) == "4.35 TB/s"
    assert rates.told("fp32", 51.24e12) == "51.2 TFLOP/s"
    assert rates.told("copy", 9.6e9) == "9.6 GB/s"


@pytest.mark.slow
def test_this_machine_copies_and_multiplies_at_a_rate_that_can_be() -> None:
    found = Cpu().measure_rates()
    assert set(found) == {*rates.BYTES, "fp32"}
    assert all(1e8 < rate < 1e13 for rate in found.values()), found
