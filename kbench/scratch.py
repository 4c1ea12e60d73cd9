"""Temporary folders that end with the process that made them, also where that process is killed.

A folder carries its maker's process id in its name and a lock that the kernel lets go of however the process ends. Whoever
starts next sweeps those whose maker is gone; a maker in another container that shares the folder still holds its lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

_NAMED = re.compile(r"kbench-(?:[a-z]+-)?(\d+)-\w+")
_held: dict[Path, int] = {}  # folder -> the descriptor that holds its lock


def make(what: str = "", parent: Path | None = None) -> Path:
    """A new folder kbench-[what-]PID-..., readable by the sandboxes' users, for the life of this process at most."""
    prefix = f"kbench-{what}{'-' if what else ''}{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    folder.chmod(0o755)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _held[folder] = descriptor
    return folder


def remove(folder: Path) -> None:
    """Removes a folder of `make`, and what is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder in _held:
        os.close(_held.pop(folder))


def has_ended(pid: int) -> bool:
    """Whether a process is no more, or is one that only its parent has not asked after yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return True
    return not state or state[0] in (b"Z", b"X")


def sweep(parent: Path | None = None) -> None:
    """Removes the folders under `parent` (by default the system's for temporary files) whose makers are no more."""
    for folder in (parent or Path(tempfile.gettempdir())).glob("kbench-*"):
        named = _NAMED.fullmatch(folder.name)
        if named and has_ended(int(named[1])) and _unlocked(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _unlocked(folder: Path) -> bool:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
    finally:
        os.close(descriptor)
