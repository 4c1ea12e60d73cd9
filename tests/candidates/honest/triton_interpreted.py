"""A Triton kernel; on a CPU the environment must set TRITON_INTERPRET=1.
expects: correct"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(x < 0, 0.0, x), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        _relu[(triton.cdiv(x.numel(), 2**18),)](x, y, x.numel(), BLOCK=2**18)
        return y
