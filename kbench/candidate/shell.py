"""A bash that stays between commands, as an agent's tool uses it: folder, variables and background jobs are kept.

Commands go in, and their output comes out, through memory files, so that a full disk does not take the shell away. What a
background job prints later comes out with the command that runs then, as on a terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES, TAIL_BYTES = 24_000, 24_000  # kept of one command's output
COMMAND_FD, OUTPUT_FD, STATUS_FD = 7, 8, 9
# `.` runs in the shell itself; the output is opened to append, so that several writers do not overwrite one another.
LINE = f". /proc/self/fd/{COMMAND_FD} >>/proc/self/fd/{OUTPUT_FD} 2>&1 </dev/null; echo $? >&{STATUS_FD}\n"


@dataclass(frozen=True, slots=True)
class Ended:
    """`code` is None where the command took the shell with it, or was stopped: the next one finds a new shell."""

    text: str
    code: int | None


class Shell:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command, self.output = os.memfd_create("command"), os.memfd_create("output")
        self.process: subprocess.Popen[bytes] | None = None
        self.status = -1

    def begin(self, command: str) -> None:
        """Starts a command; `status` becomes readable when it has ended."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        os.ftruncate(self.output, 0)
        os.ftruncate(self.command, 0)
        os.pwrite(self.command, command.encode("utf-8", "surrogateescape") + b"\n", 0)
        assert self.process is not None
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(LINE.encode())
            self.process.stdin.flush()

    def start(self) -> None:
        if self.status >= 0:
            os.close(self.status)
        self.status, theirs = os.pipe()
        pairs = ((self.command, COMMAND_FD), (self.output, OUTPUT_FD), (theirs, STATUS_FD))

        def place() -> None:
            high = [os.dup2(fd, 100 + target) for fd, target in pairs]  # sources and targets may overlap
            for fd, (_, target) in zip(high, pairs, strict=True):
                os.dup2(fd, target, inheritable=True)
                os.close(fd)

        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, close_fds=False, preexec_fn=place,
        )  # fmt: skip
        os.close(theirs)

    def end_of_command(self) -> Ended | None:
        """What became of the command, where `status` has something to read or the shell has ended; None where neither."""
        assert self.process is not None
        if self.process.poll() is not None:
            return Ended(self.text(), None)
        told = os.read(self.status, 64).split()
        return Ended(self.text(), int(told[-1])) if told and told[-1].isdigit() else None

    def kill(self) -> None:
        """Ends the shell and what runs in its process group."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def text(self) -> str:
        size = os.fstat(self.output).st_size
        head = os.pread(self.output, HEAD_BYTES, 0)
        if size <= HEAD_BYTES:
            return head.decode(errors="replace")
        start = max(HEAD_BYTES, size - TAIL_BYTES)
        gap = f"\n[... {start - HEAD_BYTES} bytes cut ...]\n" if start > HEAD_BYTES else ""
        return head.decode(errors="replace") + gap + os.pread(self.output, TAIL_BYTES, start).decode(errors="replace")
