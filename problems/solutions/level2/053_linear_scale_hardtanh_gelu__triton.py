"""Library product without its bias; bias, scale, clamp and GELU in one pass over it, in place (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _tail(y_ptr, b_ptr, n, cols, scale, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    z = (tl.load(y_ptr + i, mask=i < n) + tl.load(b_ptr + i % cols, mask=i < n)) * scale
    z = tl.minimum(tl.maximum(z, low), high)
    tl.store(y_ptr + i, 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476)), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, scale: float, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.limits = (scale, low, high)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(x, self.linear.weight.detach().t())
        block = 1024 if x.is_cuda else 2**18  # the interpreter pays for every program, not for every element
        grid = (triton.cdiv(y.numel(), block),)
        _tail[grid](y, self.linear.bias.detach(), y.numel(), y.shape[1], *self.limits, BLOCK=block)
        return y
