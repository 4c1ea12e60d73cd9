"""A workdir in a sandbox: a shell, file tools, and a tar of it out and in. Nothing that comes out of it is believed."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import select
import socket
import tarfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kbench import sandbox
from kbench.agent import AgentSettings
from kbench.candidate import protocol
from kbench.errors import KBenchError, RefereeError, SandboxError
from kbench.processes import one_shot

PROCESSES = 512
FILE_BYTES = 256 << 20
DATA_BYTES = 4 << 30  # of one process
PROGRAM_DATA_BYTES = 64 << 30  # of an agent program's: JavaScript engines reserve much and use little of it
TOOL_LIMIT_S = 60.0  # of a file tool
GRACE_S = 15.0  # between the word that a command has had its time and its end
MAX_TAR_BYTES = 32 << 20
POLL_S = 0.25


class BoxLost(Exception):
    """The sandbox no longer answers: what ran in it ended it, or used up its memory."""


class Box:
    """Use as a context manager: leaving it ends everything that the agent started."""

    def __init__(
        self, rung: str, scratch: Path, settings: AgentSettings, files: Mapping[str, bytes] | bytes,
        plan: sandbox.Plan | None = None, data_bytes: int = DATA_BYTES,
    ) -> None:  # fmt: skip
        """`files` by their paths, or a tar of an earlier box's folder."""
        if rung == "rlimits":
            raise SandboxError(
                "an agent's shell needs a sandbox with namespaces; see the container recipe in the README"
            )
        self.settings, self.scratch, self.data_bytes = settings, scratch, data_bytes
        base = plan or sandbox.Plan()
        variables = (*base.environment, ("KBENCH_WORKDIR", sandbox.BUILD_MOUNT))
        wanted = sandbox.Plan(
            devices=(),
            environment=variables,
            disk_bytes=settings.disk_bytes,
            network=base.network,
            visible=base.visible,
        )
        self.box = sandbox.Sandbox(rung, wanted, scratch, preload=())
        self.stack = contextlib.ExitStack()
        self.stack.callback(self.box.close)
        try:
            self.box.wait_ready()
            self.unpack(files if isinstance(files, bytes) else tar_of(files))
            self.channel, self.gate = self._hands()
        except BaseException:
            self.stack.close()
            raise

    def _hands(self) -> tuple[socket.socket, socket.socket]:
        limits = {
            "RLIMIT_NPROC": PROCESSES,
            "RLIMIT_FSIZE": FILE_BYTES,
            "RLIMIT_CORE": 0,
            "RLIMIT_DATA": self.data_bytes,
        }
        log = self.box.folder / "hands.log"
        shot = one_shot(self.box, "hands", [], log, self.settings.memory_bytes, limits)
        channel = self.stack.enter_context(shot)
        channel.settimeout(TOOL_LIMIT_S)
        _, fds, _, _ = socket.recv_fds(channel, 1, 1)
        if not fds:
            raise SandboxError(f"the agent's sandbox did not start: {log.read_text(errors='replace')[-500:]}")
        return channel, self.stack.enter_context(socket.socket(fileno=fds[0]))

    def bash(self, command: str, limit_s: float, excused_s: Callable[[], float] = lambda: 0.0) -> dict[str, Any]:
        """{"text", "code"}; code is None where it ended the shell or was stopped. `excused_s` is not counted (waiting for
        the referee)."""
        started, excused_before = time.monotonic(), excused_s()
        self._send({"do": "bash", "command": command})
        while not self._readable(POLL_S):
            if time.monotonic() - started - (excused_s() - excused_before) > limit_s:
                self._send({"do": "interrupt"})
                answer = self._answer(GRACE_S)
                return {**answer, "text": f"{answer['text']}\n[stopped after {limit_s:.0f} s; the shell is a new one]"}
        return self._answer(GRACE_S)

    def tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._send({**arguments, "do": name})
        return self._answer(TOOL_LIMIT_S)

    def files(self) -> dict[str, bytes]:
        """The source files as they are now."""
        return decoded(self.tool("files", {}).get("files"))

    def _readable(self, limit_s: float) -> bool:
        return bool(select.select([self.channel], [], [], limit_s)[0])

    def _send(self, message: dict[str, Any]) -> None:
        try:
            protocol.send(self.channel, message)
        except OSError as error:
            raise BoxLost(str(error)) from error

    def _answer(self, limit_s: float) -> dict[str, Any]:
        self.channel.settimeout(limit_s)
        try:
            answer = protocol.receive(self.channel)
        except (OSError, protocol.WireError) as error:
            raise BoxLost(str(error)) from error
        if answer is None:
            raise BoxLost("its processes ended")
        return answer

    def pack(self) -> bytes | None:
        """The whole folder as a tar; None where it is larger than what is kept of one."""
        read, write = os.pipe()
        with os.fdopen(read, "rb") as stream, os.fdopen(write, "wb") as sink:
            try:
                with one_shot(self.box, "pack", [write], self.box.folder / "pack.log", folder=self.box.build_path):
                    sink.close()
                    data = stream.read(MAX_TAR_BYTES + 1)
            except (RefereeError, OSError) as error:
                raise BoxLost(str(error)) from error
        return data if len(data) <= MAX_TAR_BYTES else None

    def unpack(self, data: bytes) -> None:
        read, write = os.pipe()
        with os.fdopen(read, "rb") as source, os.fdopen(write, "wb") as stream:
            log = self.box.folder / "unpack.log"
            with one_shot(self.box, "unpack", [read], log, folder=self.box.build_path) as channel:
                source.close()
                stream.write(data)
                stream.close()
                channel.settimeout(TOOL_LIMIT_S)
                if channel.recv(2) != b"ok":
                    raise SandboxError(f"the workdir could not be filled: {log.read_text(errors='replace')[-500:]}")

    def close(self) -> None:
        with contextlib.suppress(KBenchError, OSError):
            self.stack.close()

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tar_of(files: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), int(time.time())
            member.mode = 0o755 if name.endswith(".sh") else 0o644
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def decoded(files: object) -> dict[str, bytes]:
    """Files as the inside sent them: base64 by relative paths. What is none of that is left out."""
    found: dict[str, bytes] = {}
    for name, text in files.items() if isinstance(files, dict) else ():
        parts = name.split("/") if isinstance(name, str) else [""]
        if not isinstance(text, str) or any(part in ("", ".", "..") for part in parts):
            continue
        with contextlib.suppress(ValueError):
            found[name] = base64.b64decode(text, validate=True)
    return found
