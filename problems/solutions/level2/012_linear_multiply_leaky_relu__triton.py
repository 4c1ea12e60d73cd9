"""Library product without its bias; bias, multiplication and leaky ReLU in one pass over it, in place (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _tail(y_ptr, b_ptr, n, cols, multiplier, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    z = (tl.load(y_ptr + i, mask=i < n) + tl.load(b_ptr + i % cols, mask=i < n)) * multiplier
    tl.store(y_ptr + i, tl.where(z > 0, z, z * slope), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, multiplier: float, slope: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.constants = (multiplier, slope)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(x, self.linear.weight.detach().t())
        block = 1024 if x.is_cuda else 2**18  # the interpreter pays for every program, not for every element
        grid = (triton.cdiv(y.numel(), block),)
        _tail[grid](y, self.linear.bias.detach(), y.numel(), y.shape[1], *self.constants, BLOCK=block)
        return y
