"""Builds a solution in a sandbox with no device and no network, into a content-addressed folder that workers get copies of.

A candidate of this kind builds when it is imported, or when it is constructed. So that is what happens, once; what is kept is
the whole build folder, since a later import in a worker finds everything up to date there. A folder enters the cache by one
rename after a build that succeeded: a killed builder leaves nothing that a later one could wait for.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from kbench import __version__, environment, freezer, sandbox
from kbench import scratch as scratch_folders
from kbench.candidate import protocol
from kbench.errors import RefereeError, SandboxError
from kbench.processes import one_shot
from kbench.types import Build, Solution, Status

BUILD_LIMIT_S = 600.0
MEMORY_BYTES = 16 << 30
MAX_FOLDER_BYTES = 1 << 30
MAX_FILE_BYTES = 512 << 20
LOG_CHARS = 200_000  # kept of a build's output: head and tail
SOLUTION_FILE = "solution.py"
_ERROR_LINE = re.compile(r"^.*\b(?:fatal )?error\b(?::| #\d+:).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """A solution and what its constructor gets (JSON trees as the oracle described them).

    `context` names what decides them: the problem's content and shape.
    """

    solution: Solution
    init: Any
    init_leaves: tuple[dict[str, Any], ...]
    mode: str
    precision: str
    device: str
    context: str
    limit_s: float = BUILD_LIMIT_S


class Builder:
    """`build` is safe to call from several threads and processes at once: each works in a folder of its own."""

    def __init__(self, rung: str, cache_folder: Path, scratch: Path) -> None:
        self.rung, self.cache, self.scratch = rung, cache_folder / "builds", scratch
        self.cache.mkdir(parents=True, exist_ok=True)
        for folder in (self.cache, None):
            scratch_folders.sweep(folder)  # what killed runs left here and among the temporary files
        freezer.sweep()
        self.failed: dict[str, Build] = {}  # a build that failed is not tried again by this process

    def build(self, order: BuildOrder) -> Build:
        """The solution's Build; a solution that does not build is a Build with a status, not an exception."""
        key = self.key(order)
        found = self.cached(key) or self.failed.get(key)
        if found is not None:
            return found
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="build-", dir=self.scratch) as name:
            folder = Path(name)
            folder.chmod(0o755)
            source = folder / "source"
            source.mkdir()
            (source / SOLUTION_FILE).write_text(order.solution.source, encoding="utf-8", errors="surrogateescape")
            outcome = self.run(order, source, folder)
            seconds = time.monotonic() - started
            if outcome.status is None:
                self.keep(key, outcome.folder, seconds, outcome.log)
                return Build(key, str(self.cache / key / "files"), outcome.log, seconds, cached=False)
        build = Build(key, None, outcome.log, seconds, False, outcome.status, outcome.error)
        if build.status is not Status.INFRA_ERROR:
            self.failed[key] = build
        return build

    def key(self, order: BuildOrder) -> str:
        """sha256 over everything that can change what is built."""
        parts = [
            order.solution.source, order.solution.class_name, order.context, order.mode, order.precision,
            str(environment.build_environment(order.device)), __version__, self.rung, *toolchain(),
        ]  # fmt: skip
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def cached(self, key: str) -> Build | None:
        record = self.cache / key / "build.json"
        try:
            kept = json.loads(record.read_text())
        except (OSError, ValueError):
            return None
        return Build(key, str(self.cache / key / "files"), kept["log"], kept["seconds"], cached=True)

    def keep(self, key: str, folder: Path, seconds: float, log: str) -> None:
        aside = scratch_folders.make(parent=self.cache)
        try:
            entry = aside / "entry"
            entry.mkdir()
            shutil.move(folder, entry / "files")
            (entry / "build.json").write_text(json.dumps({"log": log, "seconds": round(seconds, 3)}))
            with contextlib.suppress(OSError):  # another build of the same key was first
                os.rename(entry, self.cache / key)
        finally:
            scratch_folders.remove(aside)

    def run(self, order: BuildOrder, source: Path, folder: Path) -> _Outcome:
        plan = sandbox.Plan(build=str(source), environment=build_variables(order.device))
        box = sandbox.Sandbox(self.rung, plan, folder)
        try:
            box.wait_ready()
            answer, log = self.ask(order, box, folder)
            if answer["say"] != "built":
                status = Status.TIMEOUT if answer["say"] == "timeout" else Status.COMPILE_ERROR
                text = capped(f"{log}\n{answer.get('text', '')}".strip(), LOG_CHARS)
                return _Outcome(status, source, text, told(order, first_error(text) or str(answer["last"])[:2000]))
            return _Outcome(None, self.take_over(order, box, folder), capped(log, LOG_CHARS), "")
        except _Unusable as error:
            return _Outcome(Status.COMPILE_ERROR, source, str(error), str(error))
        except (RefereeError, SandboxError) as error:
            return _Outcome(Status.INFRA_ERROR, source, str(error), str(error))
        finally:
            box.close()

    def ask(self, order: BuildOrder, box: sandbox.Sandbox, folder: Path) -> tuple[dict[str, Any], str]:
        """The build process's own words, and what it printed. Everything it started has ended when this returns."""
        log = folder / "build.log"
        limits = {"RLIMIT_FSIZE": MAX_FILE_BYTES, "RLIMIT_DATA": MEMORY_BYTES, "RLIMIT_NPROC": 512, "RLIMIT_CORE": 0}
        with one_shot(box, "build", [], log, MEMORY_BYTES, limits) as channel:
            answer = self.converse(order, box, channel)
        return answer, str(protocol.clean(read_capped(log, LOG_CHARS)))

    def converse(self, order: BuildOrder, box: sandbox.Sandbox, channel: Any) -> dict[str, Any]:
        channel.settimeout(order.limit_s)
        request = {
            "path": f"{box.build_path}/{SOLUTION_FILE}", "class_name": order.solution.class_name, "init": order.init,
            "init_leaves": list(order.init_leaves), "mode": order.mode, "precision": order.precision,
            "device": "cpu", "construct_seed": 0, "gpu": {} if order.device == "cpu" else environment.gpu_facts(order.device),
        }  # fmt: skip
        try:
            protocol.send(channel, request)
            answer = protocol.receive(channel)
        except TimeoutError:
            return {"say": "timeout", "last": f"the build did not end within {order.limit_s:.0f} s"}
        except (OSError, protocol.WireError) as error:
            return {"say": "error", "last": f"the build process spoke out of turn: {error}"}
        if answer is None:
            return {"say": "error", "last": "the process ended before the solution was imported and constructed"}
        if answer.get("say") == "built":
            return {"say": "built"}
        return {"say": "error", "text": str(answer.get("text", "")), "last": str(answer.get("last", ""))}

    def take_over(self, order: BuildOrder, box: sandbox.Sandbox, folder: Path) -> Path:
        """The build folder as the build left it, with the source that was handed in. _Unusable where it cannot be had.

        A server that no longer answers was ended by what it was given to build: that is the solution's doing.
        """
        try:
            built = self.unpack(box, folder)
        except RefereeError as error:
            raise _Unusable(f"the sandbox did not survive the build: {error}") from error
        for stale in list(built.rglob("__pycache__")):
            shutil.rmtree(stale, ignore_errors=True)
        target = built / SOLUTION_FILE
        if target.is_symlink() or target.is_dir():
            raise _Unusable(f"the build put something else in the place of {SOLUTION_FILE}")
        target.write_text(order.solution.source, encoding="utf-8", errors="surrogateescape")
        return built

    def unpack(self, box: sandbox.Sandbox, folder: Path) -> Path:
        """The build folder out of the sandbox, through a tar stream that is read with caps and without trust."""
        target = folder / "built"
        target.mkdir()
        read, write = os.pipe()
        with (
            os.fdopen(read, "rb") as stream,
            os.fdopen(write, "wb") as sink,
            one_shot(box, "pack", [write], folder / "pack.log", folder=box.build_path),
        ):
            sink.close()  # the packing process alone holds it now, so that the stream ends with it
            try:
                with tarfile.open(fileobj=_Capped(stream), mode="r|") as archive:
                    extract(archive, target)
            except tarfile.TarError as error:
                raise _Unusable(f"the build folder could not be taken over: {error}") from error
        return target


def build_variables(device: str) -> tuple[tuple[str, str], ...]:
    shared = environment.build_environment(device)
    return (*shared, ("TRITON_INTERPRET", "0")) if shared else ()


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: Status | None
    folder: Path
    log: str
    error: str


class _Unusable(Exception):
    """What the build left cannot be taken over."""


class _Capped(io.RawIOBase):
    """A stream that refuses to go on after MAX_FOLDER_BYTES."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.left = stream, MAX_FOLDER_BYTES

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise _Unusable(f"the build folder is larger than {MAX_FOLDER_BYTES >> 20} MiB")
        return data


def extract(archive: tarfile.TarFile, target: Path) -> None:
    """Files, folders and inner links; devices, pipes and anything that points outside stay behind.

    Times are kept to the nanosecond: ninja builds again what looks newer or older than it remembers.
    """
    for member in archive:
        inner = member.issym() and not os.path.isabs(member.linkname) and ".." not in member.linkname
        if not (member.isfile() or member.isdir() or inner):
            continue
        archive.extract(member, target, filter="data")
        if member.isfile():
            mtime_ns = int(Decimal(member.pax_headers.get("mtime", member.mtime)) * 10**9)
            os.utime(target / member.name, ns=(mtime_ns, mtime_ns))


def told(order: BuildOrder, error: str) -> str:
    """The error, and first of all what is the matter where a CUDA kernel was to be built for a CPU."""
    if order.device == "cpu" and order.solution.language == "cuda":
        return f"a CUDA kernel cannot be judged on the CPU device, it needs a GPU: {error}"
    return error


def first_error(text: str) -> str:
    """The compiler's first error line, if there is one."""
    found = _ERROR_LINE.search(text)
    return found.group(0).strip()[:2000] if found else ""


def capped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def read_capped(path: Path, limit: int) -> str:
    """Head and tail of a file that may be huge and of any encoding."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(limit // 2)
        if size <= limit // 2:
            return head.decode(errors="replace")
        start = max(limit // 2, size - limit // 2)
        file.seek(start)
        tail = file.read()
    cut = start - limit // 2
    gap = f"\n[... {cut} bytes cut ...]\n" if cut else ""
    return head.decode(errors="replace") + gap + tail.decode(errors="replace")


@cache
def toolchain() -> tuple[str, ...]:
    """Versions of what compiles: python, torch, triton, the C++ compiler, nvcc."""
    from importlib.metadata import PackageNotFoundError, version

    found = [sys.version]
    for package in ("torch", "triton"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("none")
    for tool in ("c++", "nvcc"):
        path = shutil.which(tool)
        told = (
            subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else "none"
        )
        found.append(told)
    return tuple(found)
