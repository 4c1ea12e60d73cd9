"""Keeps a workspace between calls and returns a fresh tensor.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.workspace = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.workspace is None or self.workspace.shape != x.shape:
            self.workspace = torch.empty_like(x)
        torch.abs(x, out=self.workspace)
        return (x + self.workspace).mul_(0.5)  # exact: x + |x| is 2x or 0
