"""Copies the first word of every memfd that it may only read into the first word of those that it may write: the done
word then holds what the referee waits for, before anything was computed.
expects: tamper, incorrect, timing_invalid"""

import contextlib
import mmap
import os
import time

import torch
import torch.nn as nn


def _pages() -> tuple[list[mmap.mmap], list[mmap.mmap]]:
    readable, writable = [], []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError, ValueError):
            if not os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:"):
                continue
            try:
                writable.append(mmap.mmap(int(name), 4096))
            except PermissionError:
                readable.append(mmap.mmap(int(name), 4096, prot=mmap.PROT_READ))
    return readable, writable


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        readable, writable = _pages()
        for source in readable:
            for target in writable:
                target[:4] = source[:4]
        time.sleep(0.2)
        return torch.relu(x)
