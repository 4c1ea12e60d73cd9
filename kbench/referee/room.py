"""Memory that several threads share: who needs some waits until it is there."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Room:
    """Of so many bytes. Who needs more than all of it gets it alone."""

    def __init__(self, size_bytes: float) -> None:
        self.size_bytes, self.held_bytes = size_bytes, 0.0
        self.changed = threading.Condition()

    @contextlib.contextmanager
    def of(self, needed_bytes: float) -> Iterator[None]:
        with self.changed:
            self.changed.wait_for(lambda: not self.held_bytes or self.held_bytes + needed_bytes <= self.size_bytes)
            self.held_bytes += needed_bytes
        try:
            yield
        finally:
            with self.changed:
                self.held_bytes -= needed_bytes
                self.changed.notify_all()
