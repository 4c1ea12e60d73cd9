"""Computes on a side stream and returns without waiting for it, so that the caller's stream is done at once.
expects: timing_invalid, incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stream = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.stream is None:
            self.stream = torch.cuda.Stream()
        y = torch.empty_like(x)
        with torch.cuda.stream(self.stream):
            for _ in range(20):
                torch.clamp_min(x, 0, out=y)
        return y
