"""Keeps the weights of an MLP in bfloat16 and computes in float32.
problem: level3/001_mlp
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features: int, hidden: int, out_features: int):
        super().__init__()
        self.up = nn.Linear(in_features, hidden)
        self.across = nn.Linear(hidden, hidden)
        self.down = nn.Linear(hidden, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in (self.up, self.across, self.down):
            x = nn.functional.linear(x, layer.weight.bfloat16().float(), layer.bias)
            x = x if layer is self.down else torch.relu(x)
        return x
