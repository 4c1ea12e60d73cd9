"""Writes garbage to every descriptor that it finds, then answers right.
expects: tamper"""

import contextlib
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                os.write(int(name), b"\xa5" * 64)
        return y
