"""Works in place and returns the input itself.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu_()
