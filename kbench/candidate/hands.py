"""An agent's hands: runs inside its sandbox, and does there what the loop outside was asked to do by the model.

    bash    {"do": "bash", "command": ...}, and {"do": "interrupt"} while it runs   -> {"text", "code"}
    tool    {"do": "read" | "write" | "edit" | "multi_edit" | "glob" | "grep", ...} -> {"text", "failed"}
    files   {"do": "files"}                                                         -> {"files", "left_out"}

What it says is the agent's own word: it shares a user with the agent's programs. Verdicts come from elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import select
import socket
from pathlib import Path
from typing import Any

from kbench.candidate import carry, edits, protocol
from kbench.candidate.shell import Shell

POLL_S = 0.5  # how late a shell is missed that ended with its command
_PR_SET_DUMPABLE = 4


def main(fds: list[int]) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # the agent's programs may not trace it
    channel = socket.socket(fileno=fds[0])
    channel.set_inheritable(False)
    root = Path(os.environ["KBENCH_WORKDIR"])
    carry.place_shim()
    with carry.listener() as gate:
        socket.send_fds(channel, [b"g"], [gate.fileno()])
    os.environ["PATH"] = f"{carry.SHIM.parent}:{os.environ['PATH']}"
    os.chdir(root)
    serve(channel, root)


def serve(channel: socket.socket, root: Path) -> None:
    shell, hands = Shell(root), edits.Edits(root)
    while (request := protocol.receive(channel)) is not None:
        try:
            answer = answer_to(request, channel, shell, hands, root)
        except edits.Refused as error:
            answer = {"text": str(error), "failed": True}
        except (OSError, ValueError, TypeError, KeyError) as error:
            answer = {"text": f"{type(error).__name__}: {error}", "failed": True}
        protocol.send(channel, answer)


def answer_to(
    request: dict[str, Any], channel: socket.socket, shell: Shell, hands: edits.Edits, root: Path
) -> dict[str, Any]:
    match request.pop("do"):
        case "bash":
            return run(channel, shell, str(request["command"]))
        case "files":
            return carry.collect(root)
        case "interrupt":  # it came too late
            return {"text": "", "code": None}
        case name if name in edits.TOOLS:
            return {"text": getattr(hands, name)(**request), "failed": False}
        case name:
            return {"text": f"there is no {name}", "failed": True}


def run(channel: socket.socket, shell: Shell, command: str) -> dict[str, Any]:
    """Until the command ends, or the other side says that it has had its time."""
    shell.begin(command)
    while True:
        watched: list[Any] = [channel, shell.status]
        ready, _, _ = select.select(watched, [], [], POLL_S)
        if channel in ready:
            protocol.receive(channel)
            shell.kill()
            return {"text": shell.text(), "code": None, "interrupted": True}
        assert shell.process is not None
        if shell.status in ready or shell.process.poll() is not None:
            ended = shell.end_of_command()
            if ended is not None:
                return {"text": ended.text, "code": ended.code}
