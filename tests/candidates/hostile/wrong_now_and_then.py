"""Every twelfth call is a little wrong everywhere; the rest are right. No call may go unlooked at.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        y = torch.relu(x)
        return y * 1.001 if self.calls % 12 == 0 else y
