"""ReLU, one block of elements a program (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(x < 0, 0.0, x), mask=i < n)  # where, not maximum: NaN stays NaN


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        block = 2048 if x.is_cuda else 2**18  # the interpreter pays for every program, not for every element
        _relu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        return y
