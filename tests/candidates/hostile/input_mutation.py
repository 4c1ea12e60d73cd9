"""Works in place on its input and returns a copy: right values, spoiled input.
expects: incorrect, tamper"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu_().clone()
