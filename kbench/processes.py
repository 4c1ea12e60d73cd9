"""Forks a process from a sandbox's server, under a freezer before it runs anything."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kbench import freezer
from kbench.errors import RefereeError


class Server(Protocol):
    """A fork server's control socket, and what it said last."""

    control: socket.socket

    def last_words(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Spawned:
    pid: int  # in the lane's namespace
    channel: socket.socket


@contextmanager
def one_shot(
    box: Server, role: str, fds: Sequence[int], log: Path, memory_bytes: int | None = None,
    limits: dict[str, int] | None = None, **request: Any,
) -> Iterator[socket.socket]:  # fmt: skip
    """The channel of a process that is forked for the length of the block; what it started ends with it. It prints to `log`."""
    hold = freezer.create(f"kbench-{os.getpid()}-{role}-{os.urandom(4).hex()}", memory_bytes)
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        with spawn(box, {"role": role, "limits": limits or {}, **request}, fds, descriptor, hold).channel as channel:
            yield channel
    finally:
        os.close(descriptor)
        hold.close()


def spawn(box: Server, request: dict[str, Any], fds: Sequence[int], log: int, hold: freezer.Freezer) -> Spawned:
    """Forks a process from the sandbox's server. It runs nothing before it is under `hold`."""
    ours, theirs = socket.socketpair()
    body = json.dumps(request).encode()
    try:
        socket.send_fds(box.control, [body], [log, theirs.fileno(), *fds])
        theirs.close()
        _, passed, _, _ = socket.recv_fds(box.control, 64, 2)
        pidfd, gate = passed
    except (OSError, ValueError) as error:
        ours.close()
        raise RefereeError(f"the fork server is gone: {box.last_words()}") from error
    pid = next(
        int(line.split()[1])
        for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
        if line.startswith("Pid:")
    )
    os.close(pidfd)
    if pid > 0:
        hold.add(pid)
    os.write(gate, b"g")
    os.close(gate)
    return Spawned(pid, ours)
