"""Allocates and touches 100 GB.
expects: runtime_error"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hoard = torch.empty(100 * 10**9, dtype=torch.uint8).fill_(1)
        return torch.relu(x) + 0 * hoard[0]
