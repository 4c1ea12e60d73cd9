"""The CPU as a device: sealed memfds as shared memory, process_vm_readv as the lane's own hands. Not a mock."""

from __future__ import annotations

import ctypes
import fcntl
import os
from pathlib import Path
from typing import Any

import torch

from kbench import environment
from kbench.candidate import protocol

NAME = "cpu"
FLUSH_FACTOR = 2  # times the last-level cache
MAX_FLUSH_BYTES = 512 << 20
_ADD_SEALS = 1033
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_FUTURE_WRITE = 1, 2, 4, 16
_CHUNK_BYTES = 1 << 30

_libc = ctypes.CDLL(None, use_errno=True)
for _name in ("process_vm_readv", "process_vm_writev"):
    getattr(_libc, _name).restype = ctypes.c_ssize_t
_libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Region:
    """A memfd mapped here and sealed: once allocated, its size is fixed for ever, and others may be kept from writing.

    `readable_only` seals against every writable mapping made after the lane's own. The descriptor can be passed on before
    `allocate` gives it a size.
    """

    def __init__(self, name: str, size_bytes: int | None = None, *, readable_only: bool = False) -> None:
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
        fcntl.fcntl(self.fd, _ADD_SEALS, self.seals)

    def close(self) -> None:
        os.close(self.fd)
        if self.memory is not None:
            protocol.unmap_memory(self.memory)

    def bytes(self, offset: int, count: int) -> bytes:
        return ctypes.string_at(self.address + offset, count)

    def tensor(self, offset: int, count: int, dtype: torch.dtype) -> torch.Tensor:
        """A flat view of `count` elements; valid while the region is open."""
        if count == 0:
            return torch.empty(0, dtype=dtype)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset)


def copy(target: Region, source: Region, offset: int, count: int) -> None:
    ctypes.memmove(target.address + offset, source.address + offset, count)


def same_bytes(first: Region, second: Region, offset: int, count: int) -> bool:
    return bool(_libc.memcmp(first.address + offset, second.address + offset, count) == 0)


def read_process(pid: int, address: int, target: torch.Tensor) -> bool:
    """Fills target (uint8, contiguous) from the process's memory at address; False where any of it cannot be read."""
    return _transfer(_libc.process_vm_readv, pid, address, target)


def write_process(pid: int, address: int, source: torch.Tensor) -> bool:
    """Writes source (uint8, contiguous) into the process's memory at address; False where any of it cannot be."""
    return _transfer(_libc.process_vm_writev, pid, address, source)


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


class Flush:
    """Writes through a buffer of FLUSH_FACTOR times the last-level cache, so that every block starts cold."""

    def __init__(self) -> None:
        size_bytes = min(FLUSH_FACTOR * last_level_cache_bytes(), MAX_FLUSH_BYTES)
        self.buffer = torch.zeros(size_bytes, dtype=torch.uint8)
        self.value = 0

    def __call__(self) -> None:
        self.value = (self.value + 1) % 256
        self.buffer.fill_(self.value)


def last_level_cache_bytes() -> int:
    """Size of the largest cache that the kernel reports; 32 MiB where it reports none."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        sizes.append(int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0))
    return max(sizes, default=32 << 20)


def facts() -> dict[str, object]:
    return {
        "device": NAME,
        "model": environment.cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "cache_bytes": last_level_cache_bytes(),
    }
