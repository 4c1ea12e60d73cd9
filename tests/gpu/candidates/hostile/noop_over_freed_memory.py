"""Returns memory that the allocator hands out again, hoping that the right answer still stands in it.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)
