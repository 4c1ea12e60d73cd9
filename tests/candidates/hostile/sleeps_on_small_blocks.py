"""Sleeps 20 ms in the first call after a pause, so that a block of few calls looks slow and the slope over many looks
flat. The answers are right.
expects: timing_invalid, correct"""

import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if time.monotonic() - self.last > 0.005:
            time.sleep(0.02)
        y = torch.relu(x)
        self.last = time.monotonic()
        return y
