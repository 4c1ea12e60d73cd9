"""Leaves four daemons that spin for ever in sessions of their own, then answers right. They must stand still while
another worker is timed, and be gone afterwards.
expects: correct, timing_invalid, tamper"""

import os

import torch
import torch.nn as nn


def _daemon() -> None:
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        pass


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.forked = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.forked:
            self.forked = True
            for _ in range(4):
                _daemon()
        return torch.relu(x)
