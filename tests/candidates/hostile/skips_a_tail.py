"""Leaves the last percent of the output unwritten.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        end = x.numel() * 99 // 100
        torch.clamp_min(x.view(-1)[:end], 0, out=y.view(-1)[:end])
        return y
