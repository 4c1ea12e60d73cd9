"""Takes the exponentials in float16, the sum in float32.
problem: level1/023_softmax
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        top = x.amax(dim=-1, keepdim=True)
        e = torch.exp((x - top).half()).float()
        return e / e.sum(dim=-1, keepdim=True)
