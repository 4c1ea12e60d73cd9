"""Maps every memfd that it has and sets the first words of the writable ones to large numbers, before it returns an
output that it never writes.
expects: tamper, incorrect"""

import contextlib
import mmap
import os
import struct

import torch
import torch.nn as nn


def _memfds() -> list[int]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:"):
                found.append(int(name))
    return found


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for fd in _memfds():
            with contextlib.suppress(OSError, ValueError), mmap.mmap(fd, 4096) as page:
                page[:64] = struct.pack("<Q", 1 << 40) * 8
        return torch.empty_like(x)
