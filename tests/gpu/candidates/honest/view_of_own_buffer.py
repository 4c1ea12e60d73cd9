"""Returns a view into a larger buffer of its own.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = torch.empty(x.shape[0] + 7, x.shape[1], device=x.device)
        torch.clamp_min(x, 0, out=whole[7:])
        return whole[7:]
