"""Returns the right shape in the transposed layout.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        buffer = torch.empty(x.shape[1], x.shape[0], dtype=x.dtype, device=x.device)
        return torch.clamp_min(x, 0, out=buffer.t())
