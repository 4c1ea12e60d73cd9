"""The fork server: the first process of a sandbox. It imports torch once, then forks one-shot processes on request.

It runs no candidate code itself, and is its namespace's init: when it ends, the kernel ends everything in it. It ends when
the control socket closes, that is, when the lane dies. Requests carry the descriptors that the new process gets.

    request  {"role": one of _roles(), "limits": {...}, "preload": [...]}   + descriptors
    answer   "spawned"                                                      + a pidfd, and the gate that lets it go
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from kbench.candidate import protocol

_PR_SET_DUMPABLE = 4
_libc = ctypes.CDLL(None, use_errno=True)


def serve(control: socket.socket, preload: list[str]) -> None:
    """Answers spawn requests until the socket closes; returns only then."""
    # Not dumpable: a candidate under the same uid may neither trace this process nor open its /proc files.
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    for module in preload:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    protocol.send(control, {"say": "ready"})
    while True:
        try:
            body, fds, _, _ = socket.recv_fds(control, protocol.PAGE_BYTES, 16)
        except InterruptedError:
            continue
        if not body:
            return
        _spawn(control, protocol.parse(body), fds)


def _reap(_signal: int, _frame: object) -> None:
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _spawn(control: socket.socket, request: dict[str, Any], fds: list[int]) -> None:
    # The child waits for this byte, so that the lane can put it under its freezer before it runs anything.
    gate_read, gate_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(gate_write)
        control.close()
        _run_child(request, fds, gate_read)
    pidfd = os.pidfd_open(pid)
    socket.send_fds(control, [b"spawned"], [pidfd, gate_write])
    for fd in (pidfd, gate_read, gate_write, *fds):
        os.close(fd)


def _run_child(request: dict[str, Any], fds: list[int], gate: int) -> None:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.read(gate, 1)
        os.close(gate)
        log, *rest = fds
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        _limit(request["limits"])
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # an unprivileged lane must be able to read the outputs
        _roles()[request["role"]](rest, request)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):  # os._exit flushes nothing
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def _roles() -> dict[str, Callable[[list[int], dict[str, Any]], None]]:
    def server(fds: list[int], request: dict[str, Any]) -> None:
        serve(socket.socket(fileno=fds[0]), request["preload"])

    def program(module: str) -> Callable[[list[int], dict[str, Any]], None]:
        return lambda fds, request: importlib.import_module(module).main(fds)

    def pack(fds: list[int], request: dict[str, Any]) -> None:
        importlib.import_module("kbench.candidate.pack").main(fds, request)

    def unpack(fds: list[int], request: dict[str, Any]) -> None:
        importlib.import_module("kbench.candidate.pack").unpack(fds, request)

    return {
        "server": server,
        "worker": program("kbench.candidate.worker"),
        "probe": program("kbench.candidate.probe"),
        "build": program("kbench.candidate.build"),
        "pack": pack,
        "unpack": unpack,
        "hands": program("kbench.candidate.hands"),
        "oracle": program("kbench.oracle.program"),
        "survey": program("kbench.oracle.sizes"),
        "admission": program("kbench.oracle.admission"),
        "facts": program("kbench.oracle.facts"),
        "ahead": program("kbench.oracle.ahead"),
        "profiled": program("kbench.oracle.profiled"),
    }


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (ceiling, ceiling))


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    serve(control, sys.argv[2].split(",") if len(sys.argv) > 2 and sys.argv[2] else [])


if __name__ == "__main__":
    main()
