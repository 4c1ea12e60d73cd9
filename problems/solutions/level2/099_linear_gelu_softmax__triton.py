"""Library product without its bias; bias, exact GELU and softmax in one pass over each row, in place (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _tail(y_ptr, b_ptr, rows, cols, sharpness, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    z = tl.load(y_ptr + row * cols + col, mask=inside, other=0.0) + tl.load(b_ptr + col, mask=col < cols, other=0.0)
    z = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476)) * sharpness
    z = tl.where(col < cols, z, float("-inf"))
    e = tl.exp(z - tl.max(z, axis=1)[:, None])
    tl.store(y_ptr + row * cols + col, e / tl.sum(e, axis=1)[:, None], mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, sharpness: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.sharpness = sharpness

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(x, self.linear.weight.detach().t())
        rows, cols = y.shape
        per_program = 1 if x.is_cuda else 128  # the interpreter pays for every program, not for every element
        grid = (triton.cdiv(rows, per_program),)
        width = triton.next_power_of_2(cols)
        bias = self.linear.bias.detach()
        _tail[grid](y, bias, rows, cols, self.sharpness, ROWS=per_program, COLS=width, num_warps=8)
        return y
