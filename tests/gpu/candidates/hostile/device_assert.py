"""Indexes out of range, which trips an assertion on the device and leaves the context poisoned.
expects: runtime_error"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        return y[torch.full((y.shape[0],), 1 << 30, device=y.device)]
