"""The few calls of the CUDA driver that sharing memory between processes needs, through ctypes over libcuda.

The driver's library comes with the driver, so there is nothing to build and no version of the runtime to find. Every call
works in the process's current primary context, which torch makes on first use. Raises OSError with the driver's error code.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

HANDLE_BYTES = 64
_LAZY_PEER_ACCESS = 1
_LIMIT_PERSISTING_L2 = 6


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * HANDLE_BYTES)]


@cache
def library() -> Any:
    """libcuda, with a context current on this thread."""
    import torch

    torch.zeros(1, device="cuda")
    found = ctypes.CDLL("libcuda.so.1")
    found.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, _Handle, ctypes.c_uint]
    return found


def check(code: int, what: str) -> None:
    if code:
        raise OSError(f"{what}: CUDA driver error {code}")


def allocate(size_bytes: int) -> int:
    """Plain device memory (not managed, not virtual), which alone can be exported. Its address."""
    pointer = ctypes.c_uint64()
    check(
        library().cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size_bytes)), f"cuMemAlloc of {size_bytes} bytes"
    )
    return pointer.value


def free(pointer: int) -> None:
    library().cuMemFree_v2(ctypes.c_uint64(pointer))


def export(pointer: int) -> str:
    """A handle, in hex, by which another process opens the allocation that starts at pointer."""
    handle = _Handle()
    check(library().cuIpcGetMemHandle(ctypes.byref(handle), ctypes.c_uint64(pointer)), "cuIpcGetMemHandle")
    return bytes(handle).hex()


def attach(exported: str) -> int:
    """The address here of another process's allocation."""
    handle, pointer = _Handle(), ctypes.c_uint64()
    ctypes.memmove(ctypes.byref(handle), bytes.fromhex(exported), HANDLE_BYTES)
    check(library().cuIpcOpenMemHandle_v2(ctypes.byref(pointer), handle, _LAZY_PEER_ACCESS), "cuIpcOpenMemHandle")
    return pointer.value


def detach(pointer: int) -> None:
    library().cuIpcCloseMemHandle(ctypes.c_uint64(pointer))


def allocation_of(pointer: int) -> tuple[int, int]:
    """Start and bytes of the allocation that holds pointer."""
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    code = library().cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(pointer))
    check(code, "cuMemGetAddressRange")
    return base.value, size.value


def forget_persisting_lines() -> None:
    """Lines that a kernel asked the L2 to keep become ordinary ones, and none may be set aside from here on."""
    library().cuCtxSetLimit(_LIMIT_PERSISTING_L2, ctypes.c_size_t(0))
    library().cuCtxResetPersistingL2Cache()
