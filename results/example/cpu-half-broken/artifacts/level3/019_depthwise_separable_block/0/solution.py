"""expects: runtime_error"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError(f"no kernel for {x.dim()} dimensions")
