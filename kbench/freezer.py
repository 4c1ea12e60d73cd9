"""Stops every process of a worker at once and lets it go again; caps its memory where the kernel offers that.

cgroup v2    cgroup.freeze, memory.max, cgroup.kill
cgroup v1    freezer.state, memory.limit_in_bytes
signals      SIGSTOP to the worker's whole pid namespace (its init excepted) until nothing in it runs
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from functools import cache
from pathlib import Path
from typing import Protocol

from kbench.scratch import has_ended

FREEZE_LIMIT_S = 5.0
UNKNOWN = ""  # a namespace that cannot be read: another user's, or a dead process's


class Freezer(Protocol):
    """Holds one worker and everything it forks."""

    kind: str

    def add(self, pid: int) -> None: ...
    def freeze(self) -> bool: ...  # whether all of it stands still
    def thaw(self) -> None: ...
    def close(self) -> None: ...  # kills what is left, leaves no folder behind


@cache
def _mounted(kind: str, controller: str = "") -> Path | None:
    """Where this process may create a cgroup of that kind, found by creating one."""
    own = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own[controllers] = path
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, type_, options, *_ = line.split()
        if type_ != kind or (controller and controller not in options.split(",")):
            continue
        base = Path(mount) / own.get(controller, "/").lstrip("/")
        trial = base / f"kbench-trial-{os.getpid()}"
        with contextlib.suppress(OSError):
            trial.mkdir()
            trial.rmdir()
            return base
    return None


def create(name: str, memory_bytes: int | None, alone: bool = False) -> Freezer:
    """The strongest freezer that this machine allows. `alone`: what it is to hold shares its pid namespace with the namespace's
    init and nobody else."""
    two, one = _mounted("cgroup2"), _mounted("cgroup", "freezer")
    memory = _mounted("cgroup", "memory")
    if two is not None and _has_freeze(two):
        return CgroupV2(two / name, memory / name if memory is not None else None, memory_bytes)
    if one is not None:
        return CgroupV1(one / name, memory / name if memory is not None else None, memory_bytes)
    return Signals(alone)


def sweep() -> None:
    """Ends and removes what lanes left that were killed: groups named after a process that is no more."""
    for base in (_mounted("cgroup2"), _mounted("cgroup", "freezer"), _mounted("cgroup", "memory")):
        for folder in base.glob("kbench-[0-9]*-*") if base is not None else ():
            if has_ended(int(folder.name.split("-")[1])):
                with contextlib.suppress(OSError):
                    _end(folder)
                    folder.rmdir()


def _end(folder: Path) -> None:
    """Kills what is in a group. Under v1 a process that stands frozen dies only when it is let go."""
    if (folder / "cgroup.kill").exists():
        (folder / "cgroup.kill").write_text("1")
        return
    for pid in (folder / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    if (folder / "freezer.state").exists():
        (folder / "freezer.state").write_text("THAWED")
    deadline = time.monotonic() + FREEZE_LIMIT_S
    while (folder / "cgroup.procs").read_text() and time.monotonic() < deadline:
        time.sleep(0.005)


@cache
def _has_freeze(base: Path) -> bool:
    trial = base / f"kbench-freeze-{os.getpid()}"
    try:
        trial.mkdir()
        found = (trial / "cgroup.freeze").exists()
        trial.rmdir()
    except OSError:
        return False
    return found


def _limit_memory(folder: Path, file: str, size_bytes: int | None) -> None:
    if size_bytes is not None:
        with contextlib.suppress(OSError):
            (folder / file).write_text(str(size_bytes))


class CgroupV2:
    kind = "cgroup v2"

    def __init__(self, folder: Path, memory: Path | None, memory_bytes: int | None) -> None:
        self.folders = [folder] if memory is None else [folder, memory]
        for each in self.folders:
            each.mkdir()
        _limit_memory(folder, "memory.max", memory_bytes)
        if memory is not None:
            _limit_memory(memory, "memory.limit_in_bytes", memory_bytes)
        self.switch = os.open(folder / "cgroup.freeze", os.O_WRONLY)
        self.events = os.open(folder / "cgroup.events", os.O_RDONLY)

    def add(self, pid: int) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def freeze(self) -> bool:
        os.write(self.switch, b"1")
        deadline = time.monotonic() + FREEZE_LIMIT_S
        while b"frozen 1" not in os.pread(self.events, 4096, 0):
            if time.monotonic() > deadline:
                return False
        return True

    def thaw(self) -> None:
        os.write(self.switch, b"0")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            (self.folders[0] / "cgroup.kill").write_text("1")
        self.thaw()
        os.close(self.switch)
        os.close(self.events)
        _remove(self.folders)


class CgroupV1:
    kind = "cgroup v1"

    def __init__(self, folder: Path, memory: Path | None, memory_bytes: int | None) -> None:
        self.folders = [folder] if memory is None else [folder, memory]
        for each in self.folders:
            each.mkdir()
        if memory is not None:
            _limit_memory(memory, "memory.limit_in_bytes", memory_bytes)
        self.state = folder / "freezer.state"

    def add(self, pid: int) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def freeze(self) -> bool:
        deadline = time.monotonic() + FREEZE_LIMIT_S
        while self.state.read_text().strip() != "FROZEN":
            self.state.write_text("FROZEN")
            if time.monotonic() > deadline:
                return False
        return True

    def thaw(self) -> None:
        self.state.write_text("THAWED")

    def close(self) -> None:
        for pid in (self.folders[0] / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.thaw()
        _remove(self.folders)


class Signals:
    kind = "signals"

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone
        self.roots: list[int] = []

    def add(self, pid: int) -> None:
        self.roots.append(pid)

    def freeze(self) -> bool:
        """Until all was found stopped twice: the first time one may have been forked by a process that stopped meanwhile."""
        deadline = time.monotonic() + FREEZE_LIMIT_S
        quiet = 0
        while quiet < 2:
            running = [pid for pid in self.members() if not _stopped(pid)]
            quiet = 0 if running else quiet + 1
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            if time.monotonic() > deadline:
                return False
        return True

    def thaw(self) -> None:
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def members(self) -> set[int]:
        """The worker, its descendants, and orphans of its pid namespace: where it is alone there all of them, a daemon that
        left its session too; elsewhere those of its own session."""
        parents = {pid: _parent(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
        found = {pid for pid in self.roots if parents.get(pid)}  # one that has just ended has no parent any more
        inits = {parents[pid] for pid in found} - {1, os.getpid()}
        spaces = {_namespace(pid) for pid in inits} - {UNKNOWN}
        for pid, parent in parents.items():
            orphan = parent in inits and pid not in self.roots and _namespace(pid) in spaces
            if orphan and (self.alone or _session(pid) in self.sessions()):
                found.add(pid)
        grown = True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            grown = bool(more)
            found |= more
        return found

    def sessions(self) -> set[int]:
        return {_session(pid) for pid in self.roots}


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return ["X", "0", "0", "0"]


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _session(pid: int) -> int:
    return int(_stat(pid)[3])


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return UNKNOWN


def _stopped(pid: int) -> bool:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    return all(_thread_state(pid, thread) in "tTZX" for thread in threads)


def _thread_state(pid: int, thread: str) -> str:
    try:
        return Path(f"/proc/{pid}/task/{thread}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return "X"


def _remove(folders: list[Path]) -> None:
    deadline = time.monotonic() + FREEZE_LIMIT_S
    for folder in folders:
        while folder.exists():
            try:
                folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    break
                time.sleep(0.005)
