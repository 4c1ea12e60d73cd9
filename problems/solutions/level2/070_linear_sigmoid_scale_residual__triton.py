"""Linear, sigmoid, scale and residual in one kernel: a tile of the product never leaves the registers (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _fused(x_ptr, w_ptr, b_ptr, y_ptr, rows, depth, cols, scale, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, depth, K):
        k = start + tl.arange(0, K)
        x = tl.load(x_ptr + row * depth + k[None, :], mask=(row < rows) & (k[None, :] < depth), other=0.0)
        w = tl.load(w_ptr + col * depth + k[:, None], mask=(col < cols) & (k[:, None] < depth), other=0.0)
        total += tl.dot(x, w, input_precision="ieee")  # fp32, not TF32
    z = total + tl.load(b_ptr + col, mask=col < cols, other=0.0)
    y = scale / (1.0 + tl.exp(-z)) + z
    tl.store(y_ptr + row * cols + col, y, mask=(row < rows) & (col < cols))


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        rows, depth = x.shape
        weight = self.linear.weight.detach()
        cols = weight.shape[0]
        y = torch.empty(rows, cols, dtype=x.dtype, device=x.device)
        m, n, k = (64, 64, 32) if x.is_cuda else (512, 512, 64)  # the interpreter pays for every program
        grid = (triton.cdiv(rows, m), triton.cdiv(cols, n))
        _fused[grid](x, weight, self.linear.bias.detach(), y, rows, depth, cols, self.scale, M=m, N=n, K=k)
        return y
