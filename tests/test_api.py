"""kbench.load and kbench.judge."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbench
from kbench.errors import ConfigError
from kbench.types import Status

from .making import filled, record


def test_a_run_is_a_table_of_its_last_records(tmp_path: Path) -> None:
    records = [
        record("level1/1_a", Status.INFRA_ERROR),
        record("level1/1_a", eager=1.5, compiled=1.2, sure=True),
        record("level1/2_a", Status.REFUSED, verdict=None),
        record("level1/3_a", None, not_run="needs 17.2 GB"),
    ]
    frame = kbench.load(filled(tmp_path / "run", records))
    assert list(frame["problem_id"]) == ["level1/1_a", "level1/2_a", "level1/3_a"]
    assert list(frame["passed"]) == [True, False, None]
    assert frame.loc[0, "speedup_eager"] == 1.5
    assert frame.loc[0, "speedup_compile_low"] == 1.001
    assert frame["speedup_eager"].isna().tolist() == [False, True, True]
    assert frame.loc[2, "message"] == "needs 17.2 GB"
    assert set(frame["model"]) == {"local/stub"}


def test_a_run_is_found_by_its_name_under_results(tmp_path: Path) -> None:
    filled(tmp_path / "mine")
    assert len(kbench.load("mine", results=tmp_path)) == 3
    with pytest.raises(ConfigError, match="no run 'other'"):
        kbench.load("other", results=tmp_path)


def test_an_option_that_does_not_exist_is_named() -> None:
    with pytest.raises(TypeError, match="no option speed; there are baseline, device"):
        kbench.judge("019_relu", "", speed=3)


def test_a_device_that_cannot_be_had_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="--device"):
        kbench.judge("019_relu", "", device="abacus")


@pytest.mark.slow
def test_a_kernel_is_judged_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path))
    options = {"device": "cpu", "protocol": "quick", "policy": "any", "baseline": "eager"}
    wrong = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    try:
        assert (
            kbench.judge("level1/019_relu", wrong.replace("return x", "return x.relu()"), **options).status
            is Status.CORRECT
        )
        assert kbench.judge("level1/019_relu", wrong, **options).status is Status.INCORRECT
        assert kbench.judge("level1/019_relu", "def broken(:", **options).status is Status.COMPILE_ERROR
    finally:
        kbench.close()


def test_a_word_that_an_option_does_not_take_is_told_with_those_it_does() -> None:
    with pytest.raises(ConfigError, match="give one of strict, quick"):
        kbench.judge("level1/019_relu", "class ModelNew: ...", protocol="qick")
    with pytest.raises(TypeError, match="as text"):
        kbench.judge("level1/019_relu", None)  # type: ignore[arg-type]
