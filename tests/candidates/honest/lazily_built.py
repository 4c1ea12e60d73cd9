"""Builds its tables in the first call, not in the constructor.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.floor = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.floor is None or self.floor.shape != x.shape[1:]:
            self.floor = torch.zeros(x.shape[1:], dtype=x.dtype, device=x.device)
        return torch.maximum(x, self.floor)
