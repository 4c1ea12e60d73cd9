"""Where the seconds of a judging go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stages:
    """Seconds by stage. A stage inside another is not counted in the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        self._inner.append(0.0)
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner.pop()
            self._inner[-1] += spent
