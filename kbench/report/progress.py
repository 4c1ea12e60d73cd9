"""Progress on stderr: done of total, passed, what failed how, and an estimate. Rich on a terminal, plain lines otherwise."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kbench.types import Record, Status
from kbench.words import timing_text


class Display(AbstractContextManager["Display"]):
    """`report` is called with a stage, or with an attempt's key and its record. Safe to call from several threads."""

    def __init__(self, mode: str, total: int) -> None:
        self.console = Console(stderr=True)
        self.mode = ("rich" if self.console.is_terminal else "plain") if mode == "auto" else mode
        self.total, self.done, self.statuses = total, 0, Counter[str]()
        self.started = time.monotonic()
        self.lock = threading.Lock()
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=self.console
        )  # fmt: skip
        self.task: Any = None

    def __enter__(self) -> Display:
        if self.mode == "rich":
            self.bar.start()
            self.task = self.bar.add_task("starting", total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self.mode == "rich":
            self.bar.stop()

    def expect(self, total: int) -> None:
        """So many attempts are to be made now; those that an earlier call settled are none of them."""
        self.total = total
        if self.mode == "rich":
            self.bar.update(self.task, total=total)

    def report(self, what: str, record: Record | None) -> None:
        with self.lock:
            if record is None:
                if not self.done:
                    self.started = time.monotonic()  # what comes before the first attempt tells nothing of the others
                self.say(what)
                return
            self.done += 1
            status = str(record.status) if record.status is not None else "not run"
            self.statuses[status] += 1
            self.say(f"{what}: {status}{self.speed(record)}", advance=1)

    def say(self, line: str, advance: int = 0) -> None:
        if self.mode == "rich":
            self.bar.console.print(line, highlight=False)
            self.bar.update(self.task, advance=advance, description=self.counts())
        elif self.mode == "plain":
            left = f" [{self.done}/{self.total}, {self.counts()}{self.estimate()}]" if advance else ""
            print(f"{line}{left}", file=self.console.file, flush=True)

    def counts(self) -> str:
        failed = ", ".join(f"{n} {status}" for status, n in self.statuses.items() if status != Status.CORRECT)
        return f"{self.statuses[Status.CORRECT]} passed" + (f", {failed}" if failed else "")

    def estimate(self) -> str:
        spent = time.monotonic() - self.started
        left = spent / self.done * (self.total - self.done)
        return f", about {left:.0f} s left" if 0 < self.done < self.total else ""

    def speed(self, record: Record) -> str:
        timing = record.verdict.timing if record.verdict is not None else None
        if timing is None:
            return f" ({record.not_run})" if record.not_run else ""
        text = timing_text(timing)
        return f", {text}" if text else ""
