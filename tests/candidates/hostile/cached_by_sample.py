"""Keeps its answers by sixteen sampled values of the input.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.answers = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        key = tuple(x.flatten()[:: x.numel() // 16][:16].tolist())
        if key not in self.answers:
            self.answers[key] = torch.relu(x)
        return self.answers[key].clone()
