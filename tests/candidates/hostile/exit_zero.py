"""Ends its process with exit code 0, as if all were done.
expects: runtime_error"""

import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        os._exit(0)
