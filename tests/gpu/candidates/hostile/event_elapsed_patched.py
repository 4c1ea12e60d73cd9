"""Patches Event.elapsed_time, which times nothing here, and does the work thirty times: its time must be told as it is.
expects: correct
slower: 0.2"""

import torch
import torch.nn as nn

torch.cuda.Event.elapsed_time = lambda self, other: 1e-6


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(30):
            y = torch.relu(x)
        return y
