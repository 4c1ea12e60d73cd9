"""Works in place on its input.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        y.copy_(x.clamp_(min=0))
        return y
