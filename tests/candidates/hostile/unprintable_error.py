"""Raises a text that no terminal and no encoder likes.
expects: runtime_error"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("\ud800\x1b]0;title\x07\x1b[2J\x00 the end")
