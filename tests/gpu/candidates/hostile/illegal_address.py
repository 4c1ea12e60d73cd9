"""A kernel that writes far outside its buffer.
expects: runtime_error"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _wild(x, n):
    place = tl.program_id(0).to(tl.int64) * 1024 + tl.arange(0, 1024)
    tl.store(x + place + (1 << 44), tl.load(x + place), mask=place < n)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        _wild[(y.numel() // 1024,)](y, y.numel())
        return y
