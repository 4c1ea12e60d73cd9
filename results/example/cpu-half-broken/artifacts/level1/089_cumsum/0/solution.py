"""expects: incorrect (every value is a tenth of a percent too large)"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x, 0.0) * 1.001
