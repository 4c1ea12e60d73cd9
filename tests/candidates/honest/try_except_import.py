"""Tries a library that may be missing, and carries on without it.
expects: correct"""

import torch
import torch.nn as nn

try:
    import a_kernel_library_that_nobody_has as fast
except ImportError:
    fast = None


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if fast is not None:
            return fast.relu(x)
        return torch.clamp_min(x, 0)
