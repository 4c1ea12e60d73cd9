"""What the builder does around a build; building itself is tested where candidates are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbench.builder import Builder, BuildOrder, _Outcome, told
from kbench.errors import SandboxError
from kbench.sandbox import Sandbox
from kbench.types import Solution, Status


def order(source: str = "class ModelNew: pass", language: str = "cpp", device: str = "cpu") -> BuildOrder:
    return BuildOrder(Solution(source, "a.py", language), None, (), "own", "float32", device, "a problem")


class Counting(Builder):
    """Its builds end as told, and are counted."""

    def __init__(self, folder: Path, status: Status | None) -> None:
        super().__init__("rlimits", folder / "cache", folder)
        self.status, self.runs = status, 0

    def run(self, order: BuildOrder, source: Path, folder: Path) -> _Outcome:
        self.runs += 1
        return _Outcome(self.status, source, "what it printed", "" if self.status is None else "the first error")


@pytest.mark.parametrize("status", [Status.COMPILE_ERROR, Status.TIMEOUT])
def test_a_build_that_failed_ahead_is_not_built_again_when_it_is_judged(tmp_path: Path, status: Status) -> None:
    builder = Counting(tmp_path, status)
    assert builder.build(order()) == builder.build(order())
    assert builder.runs == 1
    builder.build(order("class ModelNew: ..."))
    assert builder.runs == 2


def test_a_build_that_failed_for_our_reasons_is_tried_again(tmp_path: Path) -> None:
    builder = Counting(tmp_path, Status.INFRA_ERROR)
    builder.build(order())
    builder.build(order())
    assert builder.runs == 2


def test_a_build_that_worked_is_kept_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    builder = Counting(tmp_path, None)
    first, second = builder.build(order()), builder.build(order())
    assert (first.cached, second.cached, builder.runs) == (False, True, 1)
    assert [path.name for path in builder.cache.iterdir()] == [first.key]


def test_a_sandbox_that_does_not_start_is_not_the_solutions_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(box: Sandbox) -> None:
        raise SandboxError("no room")

    monkeypatch.setattr(Sandbox, "wait_ready", fails)
    build = Builder("rlimits", tmp_path / "cache", tmp_path).build(order())
    assert build.status is Status.INFRA_ERROR
    assert "no room" in build.error


def test_a_cuda_kernel_on_the_cpu_device_is_told_what_it_needs() -> None:
    assert told(order(language="cuda"), "no nvcc") == (
        "a CUDA kernel cannot be judged on the CPU device, it needs a GPU: no nvcc"
    )
    assert told(order(language="cpp"), "no c++") == "no c++"
    assert told(order(language="cuda", device="cuda"), "no nvcc") == "no nvcc"
