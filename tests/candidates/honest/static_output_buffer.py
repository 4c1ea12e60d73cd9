"""Writes into one buffer and returns it in every call, as a CUDA graph does.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.output = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.output is None or self.output.shape != x.shape:
            self.output = torch.empty_like(x)
        return torch.clamp_min(x, 0, out=self.output)
