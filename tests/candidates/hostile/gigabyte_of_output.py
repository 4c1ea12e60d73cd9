"""Prints 1 GB, then answers right. The log must stay small, whatever becomes of the candidate.
expects: runtime_error, timeout, correct"""

import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        line = "x" * (2**20 - 1)
        for _ in range(1024):
            print(line)
        sys.stdout.flush()
        return torch.relu(x)
