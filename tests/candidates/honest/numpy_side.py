"""Computes with NumPy and returns a tensor over NumPy's memory.
expects: correct"""

import numpy as np
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.maximum(x.numpy(), np.float32(0)))
