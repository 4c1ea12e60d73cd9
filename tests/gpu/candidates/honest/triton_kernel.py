"""A Triton kernel, compiled at the first call.
expects: correct"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _relu(x, y, n):
    place = tl.program_id(0).to(tl.int64) * 4096 + tl.arange(0, 4096)
    tl.store(y + place, tl.maximum(tl.load(x + place, mask=place < n), 0.0), mask=place < n)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        _relu[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel())
        return y
