"""Sends SIGKILL to its parent and to process 1, then answers right. In a pid namespace both are its init, which does
not die of it. For sandboxed runs only.
expects: correct, tamper, runtime_error"""

import contextlib
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for pid in (os.getppid(), 1):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return torch.relu(x)
