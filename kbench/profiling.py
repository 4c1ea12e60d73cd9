"""What Nsight Compute says of one call of a solution: kernels, the bytes they move, occupancy. For people; no verdict rests on it."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from kbench import environment, sandbox
from kbench.builder import SOLUTION_FILE, read_capped
from kbench.candidate import protocol
from kbench.errors import ConfigError, ProblemError, RefereeError
from kbench.evaluate import Session, problem_case
from kbench.processes import one_shot
from kbench.referee.case import TORCH_DTYPE, ProblemCase
from kbench.referee.references import FILE
from kbench.types import Precision, Problem, Solution

LIMIT_S = 600.0
OUTPUT_BYTES = 8 << 20
METRICS = {
    "gpu__time_duration.sum": "time_ns",
    "dram__bytes_read.sum": "read_bytes",
    "dram__bytes_write.sum": "written_bytes",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "compute_percent",
}
# The clocks stay as they are in a judging; several passes a kernel, since not all counters fit into one.
OPTIONS = (
    "--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off", "--clock-control", "none",
    "--target-processes", "all", "--metrics", ",".join(METRICS),
)  # fmt: skip
PLACES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")
NOT_ALLOWED = "ERR_NVGPUCTRPERM"
HOW_TO_ALLOW = "the driver lets only root read the GPU's counters: load it with NVreg_RestrictProfilingToAdminUsers=0"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch, in the order of the launches. Percentages are of the device's own peaks, as ncu knows them."""

    name: str
    time_ns: float
    read_bytes: float
    written_bytes: float
    occupancy_percent: float
    memory_percent: float
    compute_percent: float

    @property
    def moved_bytes(self) -> float:
        return self.read_bytes + self.written_bytes


def find_ncu() -> str:
    """Path of ncu. ConfigError where there is none."""
    found = shutil.which("ncu") or next((path for place in PLACES for path in sorted(glob(place))[-1:]), None)
    if found is None:
        raise ConfigError("--profile: ncu is not here; install NVIDIA Nsight Compute and put it on PATH")
    return os.path.realpath(found)


def profile(session: Session, problem: Problem, solution: Solution) -> list[Kernel]:
    """The kernels of one call, made in a sandbox like a judging's. ConfigError where this machine cannot say."""
    settings = session.settings
    if settings.device == "cpu":
        raise ConfigError("--profile is of attempts on an NVIDIA GPU; this one was judged on the CPU")
    ncu, case = find_ncu(), problem_case(problem, settings)
    build = session.build(case, solution)
    if build.folder is None:
        raise ProblemError(f"{problem.id}: the solution does not build here: {build.error}")
    folder = session.scratch / "profiled"
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text(case.source, encoding="utf-8")
    plan = sandbox.Plan(
        build=build.folder or None, problem=str(folder), oracle=True, devices=sandbox.gpu_nodes(),
        environment=environment.build_environment(settings.device), visible=(_installed_in(ncu),),
    )  # fmt: skip
    box = sandbox.Sandbox(session.rung, plan, session.scratch)
    try:
        box.wait_ready()
        text = _run(box, order(case, solution, ncu, box), session.scratch / "ncu.log")
    finally:
        box.close()
    found = list(kernels(text))
    if not found:
        raise ConfigError(f"--profile: {_reason(text)}")
    return found


def order(case: ProblemCase, solution: Solution, ncu: str, box: sandbox.Sandbox) -> dict[str, object]:
    return {
        "ncu": [ncu, *OPTIONS], "problem": f"{box.problem_path}/{FILE}", "shape": case.shape, "device": case.device,
        "path": "" if solution.builtin else f"{box.build_path}/{SOLUTION_FILE}", "class_name": solution.class_name,
        "compile": solution.compile_mode, "mode": case.mode, "precision": TORCH_DTYPE[case.precision],
        "tf32": case.precision is Precision.TF32, "construct_seed": 0,
    }  # fmt: skip


def _run(box: sandbox.Sandbox, request: dict[str, object], log: Path) -> str:
    with one_shot(box, "profiled", [], log, limits={"RLIMIT_CORE": 0}) as channel:
        channel.settimeout(LIMIT_S)
        try:
            protocol.send(channel, request)
            protocol.receive(channel)
        except (OSError, protocol.WireError) as error:
            raise RefereeError(f"ncu gave no answer: {error or 'it took too long'}") from error
    return read_capped(log, OUTPUT_BYTES)


def kernels(text: str) -> Iterator[Kernel]:
    """From ncu's raw page as CSV: a line of names, one of units, one a launch. Lines that are none of these are left out."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    for row in csv.DictReader(lines):
        try:
            figures = {field: float(str(row[metric]).replace(",", "")) for metric, field in METRICS.items()}
            yield Kernel(str(row["Kernel Name"]), **figures)
        except (KeyError, ValueError):
            continue  # the line of units, or one that the profiled process printed


def _reason(text: str) -> str:
    if NOT_ALLOWED in text:
        return HOW_TO_ALLOW
    told = [line for line in text.splitlines() if line.startswith("==ERROR==")] or text.strip().splitlines()
    return f"ncu saw no kernel; its last word: {told[-1][:300] if told else 'none'}"


def _installed_in(ncu: str) -> str:
    """The folder that holds ncu and what it loads."""
    return str(Path(ncu).parent.parent if Path(ncu).parent.name == "bin" else Path(ncu).parent)
