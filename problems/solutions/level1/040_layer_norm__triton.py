"""Layer norm, whole rows in registers, the variance about the mean (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, rows, cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0.0)
    mean = tl.sum(x, axis=1)[:, None] / cols
    centred = tl.where(inside, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=1)[:, None] / cols
    w = tl.load(w_ptr + col, mask=col < cols)
    b = tl.load(b_ptr + col, mask=col < cols)
    y = centred / tl.sqrt(variance + eps) * w + b
    tl.store(y_ptr + row * cols + col, y, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, cols = x.shape
        per_program = 1 if x.is_cuda else 256  # the interpreter pays for every program, not for every element
        width = triton.next_power_of_2(cols)
        blocks = {"ROWS": per_program, "COLS": width, "num_warps": min(max(width // 1024, 4), 16)}
        w, b, eps = self.norm.weight.detach(), self.norm.bias.detach(), self.norm.eps
        _layer_norm[(triton.cdiv(rows, per_program),)](x, w, b, y, rows, cols, eps, **blocks)
        return y
