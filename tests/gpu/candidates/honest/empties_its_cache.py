"""Gives memory back to the device after every call, so that outputs move.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        del x
        torch.cuda.empty_cache()
        return y
