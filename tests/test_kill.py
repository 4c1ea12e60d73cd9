"""kill -9 of the driver at random moments: the same command completes, nothing is lost or recorded twice, nothing stays behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbench.registry import builtin_root

KILLS = int(os.environ.get("KBENCH_TEST_KILLS", "2"))
PROBLEMS = ("level1/019_relu", "level1/051_argmax", "level1/089_cumsum")
GONE_LIMIT_S = 10.0
WRONG = (
    "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x) * 1.001\n"
)


class Bench:
    """The command, with folders of its own for results, cache and temporary files."""

    def __init__(self, folder: Path) -> None:
        self.results, self.temporary = folder / "results", folder / "tmp"
        for problem in PROBLEMS:
            target = folder / "solutions" / f"{problem}.py"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(builtin_root() / "solutions" / f"{problem}.py", target)
        (folder / "solutions" / "level1" / "019_relu__wrong.py").write_text(WRONG)
        self.temporary.mkdir()
        self.temporary.chmod(0o755)
        here = str(Path(__file__).parents[1])
        self.environment = {
            **os.environ, "TMPDIR": str(self.temporary), "KBENCH_CACHE": str(folder / "cache"), "PYTHONPATH": here,
        }  # fmt: skip
        self.command = [
            sys.executable, "-c", "from kbench.cli import main; main()", "run", "--model", f"replay/{folder / 'solutions'}",
            "--quick", "--baseline", "eager", "--policy", "any", "--samples", "2", "--results", str(self.results),
        ]  # fmt: skip
        self.pids: set[int] = set()

    def start(self, run_id: str) -> subprocess.Popen[bytes]:
        command = [*self.command, "--run-id", run_id]
        log = open(self.results.parent / f"{run_id}.log", "ab")  # noqa: SIM115 - the process's own
        process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        log.close()
        return process

    def finish(self, run_id: str) -> int:
        return self.start(run_id).wait(timeout=600)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL of the driver alone; within ten seconds everything that it had started has ended."""
        family = descendants(process.pid)
        self.pids |= family
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_until(lambda: not (alive(family) | self.mentioned()), f"left: {family} {self.mentioned()}")

    def mentioned(self) -> set[int]:
        """Processes whose arguments name this test's folder for temporary files."""
        mark = str(self.temporary).encode()
        return {pid for pid in all_pids() if mark in read(Path(f"/proc/{pid}/cmdline"))}

    def lines(self, run_id: str) -> list[bytes]:
        path = self.results / run_id / "attempts.jsonl"
        return (
            [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            if path.exists()
            else []
        )

    def statuses(self, run_id: str) -> dict[str, str]:
        records = [json.loads(line) for line in self.lines(run_id)]
        assert len({record["key"] for record in records}) == len(records)
        return {record["key"]: record["status"] for record in records}


def wait_until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + GONE_LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)


def all_pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def parent_and_state(pid: int) -> tuple[int, str]:
    fields = read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return (int(fields[1]), fields[0].decode()) if fields else (0, "X")


def descendants(root: int) -> set[int]:
    parents = {pid: parent_and_state(pid)[0] for pid in all_pids()}
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if parent_and_state(pid)[1] not in "ZX"}


def groups_of(pids: set[int]) -> list[str]:
    return [str(p) for p in Path("/sys/fs/cgroup").glob("**/kbench-[0-9]*-*") if int(p.name.split("-")[1]) in pids]


@pytest.mark.slow
def test_a_killed_run_is_completed_by_the_same_command_with_the_same_verdicts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    started = time.monotonic()
    assert bench.finish("whole") == 0
    lasted_s = time.monotonic() - started
    wanted = bench.statuses("whole")
    assert wanted == {**{f"{problem}#0": "correct" for problem in PROBLEMS}, "level1/019_relu#1": "incorrect"}
    kills, number = 0, 0
    while kills < KILLS:
        run_id, number = f"killed{number}", number + 1
        while kills < KILLS:
            before = bench.lines(run_id)
            process = bench.start(run_id)
            moment_s = random.uniform(0, lasted_s)
            try:
                assert process.wait(moment_s) == 0
                break  # it was through before the moment came
            except subprocess.TimeoutExpired:
                bench.kill(process)
            kills += 1
            print(
                f"kill {kills}: {run_id} after {moment_s:.2f} s, {len(bench.lines(run_id))} of {len(wanted)} recorded"
            )
            assert bench.lines(run_id)[: len(before)] == before
        assert bench.finish(run_id) == 0
        assert bench.statuses(run_id) == wanted
        assert list((bench.results / run_id).rglob("*.tmp")) == []
    assert list(bench.temporary.iterdir()) == []
    assert list((tmp_path / "cache" / "builds").glob("kbench-*")) == []
    assert groups_of(bench.pids) == []
