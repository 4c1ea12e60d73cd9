"""Returns a tensor of the host.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x[:1]).cpu().expand(x.shape[0], -1).contiguous()
