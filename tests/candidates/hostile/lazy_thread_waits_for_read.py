"""Returns memory that has no pages yet; a thread asks the kernel whether someone has looked at it, and fills it only
then.
expects: timing_invalid, incorrect"""

import ctypes
import mmap
import threading
import time

import torch
import torch.nn as nn

_libc = ctypes.CDLL(None)


def _resident(address: int) -> bool:
    flag = ctypes.c_ubyte()
    _libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), ctypes.byref(flag))
    return bool(flag.value & 1)


def _fill_when_read(x: torch.Tensor, y: torch.Tensor) -> None:
    middle = y.data_ptr() + y.numel() * 2 // mmap.PAGESIZE * mmap.PAGESIZE
    deadline = time.monotonic() + 20
    while not (_resident(y.data_ptr()) or _resident(middle)) and time.monotonic() < deadline:
        time.sleep(0.0005)
    torch.clamp_min(x, 0, out=y)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pages = mmap.mmap(-1, x.numel() * 4)
        y = torch.frombuffer(pages, dtype=x.dtype).view(x.shape)
        threading.Thread(target=_fill_when_read, args=(x, y), daemon=True).start()
        return y
