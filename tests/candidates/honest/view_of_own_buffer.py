"""Returns a view into the middle of a larger buffer of its own, a fresh one in every call.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        buffer = torch.empty(x.numel() + 64, dtype=x.dtype, device=x.device)
        y = buffer[32 : 32 + x.numel()].view(x.shape)
        return torch.clamp_min(x, 0, out=y)
