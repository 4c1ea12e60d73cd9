"""Its build writes a right solution over this wrong one, so that what is on record is not what runs.
expects: incorrect"""

import os

import torch
import torch.nn as nn

RIGHT = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""

with open(os.path.abspath(__file__), "w") as file:
    file.write(RIGHT)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone()
