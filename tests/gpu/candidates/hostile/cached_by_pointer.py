"""Keeps answers by the address of the input.
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.answers = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.data_ptr() not in self.answers:
            self.answers[x.data_ptr()] = torch.relu(x)
        return self.answers[x.data_ptr()].clone()
