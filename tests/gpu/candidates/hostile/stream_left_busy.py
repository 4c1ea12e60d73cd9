"""Right at once, and leaves work on another stream that goes on for a long time after done.
expects: timing_invalid"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stream = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.stream is None:
            self.stream = torch.cuda.Stream()
        with torch.cuda.stream(self.stream):
            torch.cuda._sleep(100_000_000)
        return torch.relu(x)
