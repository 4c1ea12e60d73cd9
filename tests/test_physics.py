"""The floor that memory sets, against figures worked out by hand."""

from __future__ import annotations

import pytest

from kbench.referee import physics
from kbench.referee.layout import Layout, lay_out


def layout(rows: int, cols: int, aliases: bool = False) -> Layout:
    spec = {"dtype": "float32", "shape": [rows, cols], "stride": [cols, 1]}
    description = {
        "init_leaves": [], "state": [], "leaves": [spec], "outputs": [spec | {"aliases_input": aliases}], "mutated": [],
        "batch": 0, "device": "cuda:0",
    }  # fmt: skip
    return lay_out(description, slots=4, checked=1)


def test_a_gigabyte_read_and_written_takes_half_a_millisecond_at_four_terabytes_a_second() -> None:
    moved = 2 * 4 * 16384 * 16384  # 2.147 GB
    wanted_us = moved / (0.95 * 4e12) * 1e6
    assert physics.floor_us(layout(16384, 16384), 4e12, 0) == pytest.approx(wanted_us)
    assert wanted_us == pytest.approx(565.1, abs=0.1)


def test_what_a_cache_can_hold_need_not_move() -> None:
    assert physics.floor_us(layout(1024, 1024), 4e12, 60 << 20) == 0


def test_where_no_rate_was_measured_there_is_no_floor() -> None:
    assert physics.floor_us(layout(1024, 1024), None, 0) is None
