"""Leaves a child process that keeps the GPU busy.
expects: timing_invalid, correct"""

import subprocess
import sys

import torch
import torch.nn as nn

_BUSY = "import torch\nx = torch.ones(8192, 8192, device='cuda')\nwhile True:\n    x @ x\n"


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.child is None:
            self.child = subprocess.Popen([sys.executable, "-c", _BUSY], start_new_session=True)
        return torch.relu(x)
