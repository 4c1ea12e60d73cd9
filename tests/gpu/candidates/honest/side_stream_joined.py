"""Computes on a side stream, and the caller's stream waits for it.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stream = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.stream is None:
            self.stream = torch.cuda.Stream()
        here = torch.cuda.current_stream()
        self.stream.wait_stream(here)
        y = torch.empty_like(x)
        with torch.cuda.stream(self.stream):
            torch.clamp_min(x, 0, out=y)
        here.wait_stream(self.stream)
        return y
