"""Under what conditions a block was taken: who else has the GPU open, and whether it slowed itself down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kbench.devices.cuda import Cuda, strangers


@pytest.fixture
def child() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def test_processes_that_come_from_the_lanes_own_starter_are_no_strangers(child: int) -> None:
    assert strangers([os.getpid()]) == 0
    assert strangers([os.getpid(), child]) == 0


def test_a_process_of_somebody_elses_is_one() -> None:
    assert strangers([os.getpid(), 1]) == 1


def test_a_process_that_has_ended_meanwhile_is_none() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    assert strangers([os.getpid(), ended.pid]) == 0


def test_numbers_of_another_namespace_tell_nothing(child: int) -> None:
    assert strangers([1, 2, 3]) is None
    assert strangers([]) is None


@pytest.mark.parametrize(
    ("conditions", "marks"),
    [
        ({}, ()),
        ({"throttle_mask": 0x4, "others": 0.0}, ()),  # at its power limit, as every large product is
        ({"throttle_mask": 0x40}, ("throttled",)),
        ({"throttle_mask": 0x8 | 0x4, "others": 2.0}, ("throttled", "shared")),
    ],
)
def test_blocks_are_marked_by_what_nvml_says(conditions: dict[str, float], marks: tuple[str, ...]) -> None:
    assert Cuda.marks(Cuda.__new__(Cuda), conditions) == marks
