"""Computes in bf16 and casts back.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x.bfloat16()).float()
