"""What `utils.compile`, `utils.verification` and `utils.profiling` do in a workdir: carry the files out to the referee, and its
text back. The referee trusts nothing of it. Also the `sudo` of a workdir, which runs those two modules and nothing else.

    python3 -m kbench.candidate.carry compile|verify|profile
    python3 -m kbench.candidate.carry sudo python3 -m utils.verification
"""

from __future__ import annotations

import base64
import itertools
import os
import socket
import sys
from pathlib import Path
from typing import Any

from kbench.candidate import protocol

PLACE = Path("/tmp/.kbench")
SOCKET, SHIM = PLACE / "gate", PLACE / "bin" / "sudo"
SUFFIXES = (".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".inl", ".sh", ".md")
LEFT_OUT = ("build", "__pycache__", ".git", "node_modules", ".venv")
FILE_BYTES, ALL_BYTES, MOST_FILES = 256 << 10, 560 << 10, 400  # what a message of the wire holds, in base64
SUDO = {"utils.verification": "verify", "utils.profiling": "profile"}


def place_shim() -> None:
    SHIM.parent.mkdir(parents=True, exist_ok=True)
    SHIM.write_text('#!/bin/sh\nexec python3 -m kbench.candidate.carry sudo "$@"\n')
    SHIM.chmod(0o755)


def listener() -> socket.socket:
    gate = socket.socket(socket.AF_UNIX)
    SOCKET.unlink(missing_ok=True)
    gate.bind(str(SOCKET))
    gate.listen(8)
    return gate


def collect(root: Path) -> dict[str, Any]:
    """The source files under `root`, in base64 by their paths, and those left out with the reason."""
    files: dict[str, str] = {}
    left_out: list[str] = []
    total = 0
    for base, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(base, name)
            if path.suffix not in SUFFIXES or path.is_symlink() or not path.is_file():
                continue
            size, relative = path.stat().st_size, str(path.relative_to(root))
            if size > FILE_BYTES or total + size > ALL_BYTES or len(files) >= MOST_FILES:
                left_out.append(f"{relative}: {size} bytes are too many")
                continue
            total += size
            files[relative] = base64.b64encode(path.read_bytes()).decode()
    return {"files": files, "left_out": left_out[:20]}


def ask(kind: str, root: Path) -> int:
    """Prints what the referee says, and returns its exit code."""
    carried = collect(root)
    for line in carried["left_out"]:
        print(f"left out: {line}", file=sys.stderr)
    with socket.socket(socket.AF_UNIX) as gate:
        gate.connect(str(SOCKET))
        protocol.send(gate, {"kind": kind, "files": carried["files"]})
        answer = protocol.receive(gate)
    if answer is None:
        print("the referee did not answer", file=sys.stderr)
        return 1
    print(answer["text"])
    return int(answer["exit"])


def main(arguments: list[str]) -> int:
    root = Path(os.environ.get("KBENCH_WORKDIR", os.getcwd()))  # a program may start its commands with few variables
    if arguments[:1] != ["sudo"]:
        return ask(arguments[0], root)
    module = next((word for before, word in itertools.pairwise(arguments) if before == "-m"), "")
    if module not in SUDO:
        print("sudo: only python3 -m utils.verification and python3 -m utils.profiling may be run", file=sys.stderr)
        return 1
    return ask(SUDO[module], root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
