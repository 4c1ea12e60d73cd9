"""Rounds both factors to the ten mantissa bits of TF32, then multiplies in float32.
problem: level1/001_square_matmul
expects: incorrect"""

import torch
import torch.nn as nn


def _tf32(x: torch.Tensor) -> torch.Tensor:
    bits = x.view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(_tf32(a), _tf32(b))
