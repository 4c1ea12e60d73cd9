"""Row softmax, whole rows in registers (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _softmax(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    source = tl.minimum(row, rows - 1)  # rows past the end repeat the last one and are not stored
    x = tl.load(x_ptr + source * cols + col, mask=col < cols, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(y_ptr + row * cols + col, e / tl.sum(e, axis=1)[:, None], mask=(row < rows) & (col < cols))


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, cols = x.shape
        per_program = 1 if x.is_cuda else 128  # the interpreter pays for every program, not for every element
        width = triton.next_power_of_2(cols)
        warps = min(max(width // 1024, 4), 16)
        _softmax[(triton.cdiv(rows, per_program),)](x, y, rows, cols, ROWS=per_program, COLS=width, num_warps=warps)
        return y
