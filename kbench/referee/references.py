"""The sandbox of the problems' own code: one for all problems of a lane, since importing torch and Inductor takes 2 s and 3 s.

Its oracles, reference workers and baselines in a candidate's place are one-shot processes, forked from a server that has imported
torch, or from a second one that has Inductor's machinery loaded too. No candidate's code ever runs in it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kbench import freezer, sandbox
from kbench.candidate import protocol
from kbench.processes import spawn
from kbench.referee.wire import WorkerGone

FILE = "problem.py"


class SubServer:
    """A second fork server inside a sandbox, with more imported: torch.compile's machinery takes 3 s and serves many."""

    def __init__(self, box: sandbox.Sandbox, preload: Sequence[str], folder: Path) -> None:
        self.box = box
        self.hold = freezer.create(f"kbench-{os.getpid()}-server-{os.urandom(3).hex()}", None)
        log = os.open(folder / "compile-server.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self.control = spawn(
            box, {"role": "server", "preload": list(preload), "limits": {}}, [], log, self.hold
        ).channel
        os.close(log)
        self.ready = False

    def wait_ready(self) -> None:
        if not self.ready:
            self.control.settimeout(sandbox.START_LIMIT_S)
            if protocol.receive(self.control) is None:
                raise WorkerGone("the server for torch.compile did not start")
            self.control.settimeout(30.0)
            self.ready = True

    def last_words(self) -> str:
        return self.box.last_words()

    def close(self) -> None:
        self.control.close()
        self.hold.close()


class References:
    def __init__(self, box: sandbox.Sandbox, folder: Path, scratch: Path) -> None:
        """`folder` is what the sandbox sees as its problems."""
        self.box, self.folder, self.scratch = box, folder, scratch
        self.compiling: SubServer | None = None

    def add(self, content_hash: str, source: str) -> str:
        """The problem's file, at its path inside. The same text has the same path in every run: Inductor's cache may see it."""
        inner = self.folder / content_hash[:16]
        if not inner.exists():
            inner.mkdir()
            (inner / FILE).write_text(source, encoding="utf-8")
        return f"{self.box.problem_path}/{inner.name}/{FILE}"

    def compile_server(self) -> SubServer:
        """Started on first use; `wait_ready` says when it can fork."""
        if self.compiling is None:
            self.compiling = SubServer(self.box, ["kbench.oracle.compiled"], self.scratch)
        return self.compiling

    def server(self, side: str) -> sandbox.Sandbox | SubServer:
        """Whence a worker of that side is forked: "compile", or any other."""
        if side != "compile":
            return self.box
        server = self.compile_server()
        server.wait_ready()
        return server

    @property
    def alive(self) -> bool:
        return self.box.process.poll() is None

    def close(self) -> None:
        if self.compiling is not None:
            self.compiling.close()
        self.box.close()
