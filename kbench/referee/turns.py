"""Several lanes at work on one device: beside each other, but what is timed has the device to itself.

Two locks that the kernel lets go of however a process ends: the floor, which many share or one has alone, and the door, which
whoever comes passes first and whoever wants to be alone keeps shut until the others have left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


class Turns:
    """Of one lane. Not to be nested."""

    def __init__(self, folder: Path, device: str) -> None:
        """`folder` is what the lanes of a machine have in common; it is made where it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        name = device.replace(":", "-")
        self.door, self.floor = (
            os.open(folder / f"{what}-{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            for what in ("door", "floor")
        )

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Work that others may share the device with."""
        with locked(self.door, fcntl.LOCK_EX):
            fcntl.flock(self.floor, fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self.floor, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Work that is timed."""
        with locked(self.door, fcntl.LOCK_EX), locked(self.floor, fcntl.LOCK_EX):
            yield

    def close(self) -> None:
        os.close(self.door)
        os.close(self.floor)


@contextlib.contextmanager
def locked(descriptor: int, how: int) -> Iterator[None]:
    fcntl.flock(descriptor, how)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
