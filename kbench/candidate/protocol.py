"""What the two sides of the wire agree on: framing, the go page, the output table. Standard library only.

The worker's side of all this runs in a process that the candidate owns, so nothing that it writes is believed: the lane
re-validates every message and every field of the table.

    go page   lane writes, worker reads    u32 sequence, u32 k, u32 slot order[k]
    table     worker writes, lane reads    u32 sequence when done, then one row a call, then one row a state tensor
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import platform
import socket
import struct
from typing import Any

MAX_MESSAGE_BYTES = 1 << 20
MAX_CALLS = 4096  # rows of the go page and of the table
MAX_DIMS = 8
PAGE_BYTES = 4096

GO_ORDER_OFFSET = 64
GO_BYTES = GO_ORDER_OFFSET + 4 * MAX_CALLS
TABLE_ROWS_OFFSET = 64

DTYPES = (
    "float32", "float64", "float16", "bfloat16", "complex64", "complex128",
    "bool", "uint8", "int8", "int16", "int32", "int64",
)  # fmt: skip
SCALAR = 200  # a Python number; its value stands as a double in the pointer's place
NOT_A_TENSOR = 201

# One leaf: data pointer, dtype code, ndim, is exactly torch.Tensor, is on a GPU, shape, stride
LEAF = struct.Struct(f"<QIIII{MAX_DIMS}q{MAX_DIMS}q")
LEAF_HEAD = struct.Struct("<Q")
LEAF_BYTES = 192
ROW_HEAD = struct.Struct("<II")  # leaves of this call's output, structure code
ROW_HEAD_BYTES = 64
UNPUBLISHED = 0xFFFFFFFF  # in a row's head: the lane's word for a call that has not published yet
STRUCTURES = ("tensor", "sequence", "mapping", "other")

_UNPRINTABLE = {code: None for code in (*range(32), 127, *range(128, 160)) if chr(code) not in "\n\t"}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_SYS_FUTEX = {"x86_64": 202, "aarch64": 98}[platform.machine()]
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_MAP_POPULATE = 0x8000
_MADV_POPULATE_READ = 22


class WireError(Exception):
    """A frame that is too long, not JSON, or not an object."""


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def row_bytes(max_leaves: int) -> int:
    return ROW_HEAD_BYTES + LEAF_BYTES * max_leaves


def table_bytes(calls: int, max_leaves: int, states: int) -> int:
    return TABLE_ROWS_OFFSET + calls * row_bytes(max_leaves) + states * LEAF_BYTES


def state_offset(calls: int, max_leaves: int) -> int:
    return TABLE_ROWS_OFFSET + calls * row_bytes(max_leaves)


def map_memory(fd: int, size_bytes: int, *, writable: bool, populate: bool = False) -> ctypes.Array[ctypes.c_char]:
    """The file's first size_bytes as a ctypes array; mapped until `unmap_memory`. OSError where it cannot be mapped."""
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    flags = mmap.MAP_SHARED | (_MAP_POPULATE if populate else 0)
    address = _libc.mmap(None, size_bytes, protection, flags, fd, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), f"mmap of {size_bytes} bytes: {os.strerror(ctypes.get_errno())}")
    return (ctypes.c_char * size_bytes).from_address(address)


def populate_memory(address: int, size_bytes: int) -> None:
    """Makes the pages present in this process's tables, whatever another process did to the file. No news where it cannot."""
    _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size_bytes), _MADV_POPULATE_READ)


def unmap_memory(memory: ctypes.Array[ctypes.c_char]) -> None:
    _libc.munmap(ctypes.c_void_p(ctypes.addressof(memory)), ctypes.c_size_t(ctypes.sizeof(memory)))


def load_word(address: int) -> int:
    return ctypes.c_uint32.from_address(address).value


def store_word(address: int, value: int) -> None:
    ctypes.c_uint32.from_address(address).value = value


def wait_word(address: int, seen: int, timeout_s: float | None) -> int:
    """Sleeps until the word differs from `seen`, or for about timeout_s; returns the word."""
    limit = None if timeout_s is None else Timespec(int(timeout_s), int(timeout_s % 1 * 1e9))
    if load_word(address) == seen:
        pointer = None if limit is None else ctypes.byref(limit)
        _libc.syscall(_SYS_FUTEX, ctypes.c_void_p(address), _FUTEX_WAIT, ctypes.c_uint32(seen), pointer, None, 0)
    return load_word(address)


def wake_word(address: int) -> None:
    _libc.syscall(_SYS_FUTEX, ctypes.c_void_p(address), _FUTEX_WAKE, ctypes.c_int(1 << 30), None, None, 0)


def send(channel: socket.socket, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    channel.sendall(struct.pack(">I", len(body)) + body)


def receive(channel: socket.socket) -> dict[str, Any] | None:
    """The next message; None at the end of the stream. WireError on anything that is not a framed JSON object."""
    head = _read_exactly(channel, 4)
    if head is None:
        return None
    (length,) = struct.unpack(">I", head)
    if length > MAX_MESSAGE_BYTES:
        raise WireError(f"a frame of {length} bytes")
    body = _read_exactly(channel, length)
    if body is None:
        raise WireError("the stream ended inside a frame")
    return parse(body)


def parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise WireError(f"not JSON: {body[:60]!r}") from error
    if not isinstance(message, dict):
        raise WireError(f"not an object: {body[:60]!r}")
    cleaned: dict[str, Any] = clean(message)
    return cleaned


def clean(value: Any) -> Any:
    """The value with every string in it fit to be printed: no lone surrogates, no control characters but line ends and tabs."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().translate(_UNPRINTABLE)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def _read_exactly(channel: socket.socket, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = channel.recv(min(count, 1 << 16))
        if not part:
            if parts:
                raise WireError("the stream ended inside a frame")
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
