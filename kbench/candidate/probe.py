"""Writes a pattern into memory of the lane's, to show that sharing works from inside a sandbox. `kbench doctor` runs it."""

from __future__ import annotations

import socket

from kbench.candidate import protocol
from kbench.candidate.memory import Shared

PATTERN = 7


def main(fds: list[int]) -> None:
    wire, fd = fds
    channel = socket.socket(fileno=wire)
    order = protocol.receive(channel)
    assert order is not None
    area = Shared(order["ticket"], fd)
    area.flat.fill_(PATTERN)
    if area.flat.is_cuda:
        import torch

        torch.cuda.synchronize()
    protocol.send(channel, {"say": "ready"})
