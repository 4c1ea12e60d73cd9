"""What is read out of Nsight Compute. ncu itself runs in tests/gpu."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from kbench import profiling, roofline, sandbox
from kbench.cli import main
from kbench.profiling import METRICS, Kernel, kernels
from kbench.report.profile import profile_parts

HEAD = ["ID", "Process ID", "Kernel Name", "Block Size", *METRICS]
UNITS = ["", "", "", "", "ns", "byte", "byte", "%", "%", "%"]
RELU = [
    "0",
    "17",
    "void relu<float, 4>(float *, long)",
    "(256, 1, 1)",
    "118,432",
    "268435456",
    "266,338,304",
    "83.51",
    "92.1",
    "20.5",
]


def csv_of(*rows: list[str]) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


def test_each_launch_is_read_and_everything_else_is_left_out() -> None:
    text = f"==PROF== Connected to process 17\nhello\n{csv_of(HEAD, UNITS, RELU, RELU)}\n==PROF== Disconnected\n"
    found = list(kernels(text))
    assert len(found) == 2
    assert found[0] == Kernel(
        "void relu<float, 4>(float *, long)", 118432.0, 268435456.0, 266338304.0, 83.51, 92.1, 20.5
    )


@pytest.mark.parametrize("text", ["", '"', '"Kernel Name"\n"x"', csv_of(HEAD, UNITS), csv_of(HEAD, ["x"] * 40)])
def test_output_without_a_launch_gives_none(text: str) -> None:
    assert list(kernels(text)) == []


def test_a_counter_that_the_driver_keeps_for_root_is_said_with_its_mend() -> None:
    told = profiling._reason("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access ...")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in told


def test_the_table_says_how_much_of_the_roofline_is_reached() -> None:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    call = list(kernels(csv_of(HEAD, UNITS, RELU)))
    for part in profile_parts(call, 67.1e6, {"read": 4.0e12, "write": 4.5e12, "copy": 4.2e12, "fp32": 50e12}, "fp32"):
        console.print(part)
    console.file.close()
    text = console.export_text()
    # 534,773,760 bytes in 118.432 us are 4.52 TB/s; at 4.5 TB/s they take 118.8 us.
    assert "4.52 TB/s" in text
    assert "bound by memory: 118.8 us for the bytes, 1.3 us for the arithmetic: 100% of it reached" in text
    assert "84 %" in text


def test_what_bounds_a_call_is_the_larger_of_its_two_times() -> None:
    rates = {"read": 1e12, "fp32": 10e12}
    matmul = roofline.roof(2e12, 1e9, rates, "fp32")
    assert matmul is not None
    assert (matmul.bound, matmul.least_us) == ("arithmetic", pytest.approx(200_000.0))
    assert roofline.roof(2e12, 1e9, {"fp32": 1e12}, "fp32") is None
    without = roofline.roof(2e12, 1e9, rates, "bf16")
    assert without is not None
    assert (without.bound, without.compute_us) == ("memory", None)


@pytest.mark.slow
def test_ncu_is_started_in_the_sandbox_and_what_it_prints_comes_out(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    tool = tmp_path / "tool"
    tool.mkdir(mode=0o755)
    lines = csv_of(HEAD, UNITS, RELU)
    (tool / "ncu").write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\necho \"$@\"; id -u; cat /tmp/profiled.json\n")
    (tool / "ncu").chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    box = sandbox.Sandbox(sandbox.choose(), sandbox.Plan(oracle=True, visible=(str(tool),)), scratch)
    try:
        box.wait_ready()
        text = profiling._run(box, {"ncu": [str(tool / "ncu"), "--csv"], "shape": {"n": 3}}, scratch / "log")
    finally:
        box.close()
    assert len(list(kernels(text))) == 1
    assert "--csv" in text
    assert "-m kbench.oracle.profiled" in text
    assert '"n": 3' in text


def test_an_attempt_of_a_cpu_is_refused_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    run = Path(__file__).parents[1] / "results" / "example" / "cpu-solutions"
    with pytest.raises(SystemExit) as ended:
        main(["show", str(run), "level1/051_argmax", "--profile"])
    assert ended.value.code == 2
    assert (
        capfd.readouterr().err == "kbench: --profile is of attempts on an NVIDIA GPU; this one was judged on the CPU\n"
    )
