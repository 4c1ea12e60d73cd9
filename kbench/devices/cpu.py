"""The CPU as a device: sealed memfds as shared memory, process_vm_readv as the lane's own hands. Not a mock."""

from __future__ import annotations

import ctypes
import fcntl
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from kbench import environment
from kbench.candidate import protocol
from kbench.devices import CHECKED_AT_ONCE, Area, measuring

FLUSH_FACTOR = 2  # times the last-level cache
MAX_FLUSH_BYTES = 512 << 20
RATE_BYTES, RATE_SIDE = 512 << 20, 2048
_ADD_SEALS = 1033
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_FUTURE_WRITE = 1, 2, 4, 16
_CHUNK_BYTES = 1 << 30
SLOT_MEMORY_SHARE = 1 / 32  # of what is available: staging, three sides' slots and their outputs hold as much each
MAX_SLOT_BYTES = 512 << 20

_libc = ctypes.CDLL(None, use_errno=True)
for _name in ("process_vm_readv", "process_vm_writev"):
    getattr(_libc, _name).restype = ctypes.c_ssize_t


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Region:
    """A memfd mapped here and sealed: once allocated, its size is fixed for ever, and others may be kept from writing.

    `readable_only` seals against every writable mapping made after the lane's own. The descriptor can be passed on before
    `allocate` gives it a size.
    """

    def __init__(self, name: str, size_bytes: int | None = None, *, readable_only: bool = False) -> None:
        self.name = name
        self.fd = os.memfd_create(f"kbench-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.seals = _SEAL_SHRINK | _SEAL_GROW | _SEAL_SEAL | (_SEAL_FUTURE_WRITE if readable_only else 0)
        self.memory: Any = None
        if size_bytes is not None:
            self.allocate(size_bytes)

    def allocate(self, size_bytes: int) -> None:
        self.size_bytes = -(-size_bytes // protocol.PAGE_BYTES) * protocol.PAGE_BYTES
        os.ftruncate(self.fd, self.size_bytes)
        self.memory = protocol.map_memory(self.fd, self.size_bytes, writable=True)
        self.address = ctypes.addressof(self.memory)
        self.flat = torch.frombuffer(self.memory, dtype=torch.uint8)
        fcntl.fcntl(self.fd, _ADD_SEALS, self.seals)

    def close(self) -> None:
        os.close(self.fd)
        if self.memory is not None:
            protocol.unmap_memory(self.memory)

    def bytes(self, offset: int, count: int) -> bytes:
        return ctypes.string_at(self.address + offset, count)

    def ticket(self) -> dict[str, Any]:
        return {"bytes": self.size_bytes, "handle": ""}


class ProcessHands:
    """Reads and writes another process's memory at its own addresses; the kernel says what can be reached."""

    told = False

    def __init__(self, pid: int, region_name: str) -> None:
        self.pid, self.mark = pid, f"/memfd:kbench-{region_name} "

    def holds(self, spans: Sequence[tuple[int, int]]) -> bool:
        return True

    def read(self, address: int, size_bytes: int) -> torch.Tensor | None:
        target = torch.empty(size_bytes, dtype=torch.uint8)
        found = not size_bytes or _transfer(_libc.process_vm_readv, self.pid, address, target)
        return target if found else None

    def write(self, address: int, data: torch.Tensor) -> bool:
        return _transfer(_libc.process_vm_writev, self.pid, address, data)

    def in_inputs(self, spans: Sequence[tuple[int, int]]) -> list[bool]:
        """The kernel's own map of the process says where the input region is."""
        found = []
        for line in Path(f"/proc/{self.pid}/maps").read_text().splitlines():
            if self.mark in line:
                begin, end = (int(part, 16) for part in line.split(" ", 1)[0].split("-"))
                found.append((begin, end))
        return [any(begin < at + size and at < end for begin, end in found) for at, size in spans]

    def learn(self, segments: Any) -> bool:
        return False

    def close(self) -> None:
        pass


def _transfer(call: Any, pid: int, address: int, local: torch.Tensor) -> bool:
    done, total = 0, local.numel()
    while done < total:
        count = min(_CHUNK_BYTES, total - done)
        ours = _Iovec(local.data_ptr() + done, count)
        theirs = _Iovec(address + done, count)
        moved = call(ctypes.c_int(pid), ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        if moved <= 0:
            return False
        done += moved
    return True


class Quiet:
    """The Vigil of a device where what stands frozen runs nothing."""

    probe_us = 0.0

    def has_ended(self) -> bool:
        return False

    def late_us(self) -> float:
        return 0.0

    def was_held_up(self) -> bool:
        return False


class Cpu:
    """The Device of this machine's processor."""

    name, spins, least_calls = "cpu", False, 4
    goes_on = False
    block_us = 100_000.0
    decoy_bytes = 32 << 20
    peak_bytes_per_s: float | None = None  # several levels of caches and shared memory: no rate is a bound

    def __init__(self) -> None:
        self.rates: dict[str, float] = {}
        self.cache_bytes = last_level_cache_bytes()
        size_bytes = min(FLUSH_FACTOR * self.cache_bytes, MAX_FLUSH_BYTES)
        self.buffer = torch.zeros(size_bytes, dtype=torch.uint8)
        self.value = 0

    def measure_rates(self) -> dict[str, float]:
        """Of memory beyond the caches."""
        moved = measuring.bytes_per_s(RATE_BYTES, "cpu", seconds)
        return {**moved, "fp32": measuring.flops_per_s(RATE_SIDE, "cpu", torch.float32, seconds)}

    def area(self, name: str) -> Region:
        return Region(name)

    def hands(self, pid: int, region: Area) -> ProcessHands:
        return ProcessHands(pid, region.name)

    def settle(self) -> None:
        pass

    def flush(self) -> None:
        """Writes through a buffer of FLUSH_FACTOR times the last-level cache."""
        self.value = (self.value + 1) % 256
        self.buffer.fill_(self.value)

    def bring(self, copies: Callable[[], None], calls: int) -> float:
        copies()
        self.flush()
        return 0.0

    def was_held_up(self, took_us: float, alone_us: float) -> bool:
        return False

    def vigil(self, least_us: float) -> Quiet:
        return Quiet()

    def probe_us(self) -> float:
        return 0.0

    def is_late(self, probe_us: float, usual_us: Sequence[float]) -> bool:
        return False  # what stands frozen runs nothing

    def wait_idle(self) -> None:
        pass

    def calls_that_fit(self, input_bytes: int, output_bytes: int) -> int:
        room = min(MAX_SLOT_BYTES, int(environment.available_bytes() * SLOT_MEMORY_SHARE))
        return room // max(input_bytes + output_bytes, 1)

    def checked_calls(self, answer_bytes: int) -> int:
        return CHECKED_AT_ONCE

    def marks(self, conditions: dict[str, float]) -> tuple[str, ...]:
        return ()

    def conditions(self) -> dict[str, float]:
        return {}


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def last_level_cache_bytes() -> int:
    """Size of the largest cache that the kernel reports; 32 MiB where it reports none."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        sizes.append(int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0))
    return max(sizes, default=32 << 20)


def facts() -> dict[str, object]:
    return {
        "device": "cpu",
        "model": environment.cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "cache_bytes": last_level_cache_bytes(),
    }
