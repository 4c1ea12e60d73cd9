"""Row prefix sums, a chunk at a time: each chunk is scanned in registers and carries its last sum to the next (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _cumsum(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    source = tl.minimum(row, rows - 1)  # rows past the end repeat the last one and are not stored
    carried = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + source[:, None] * cols + col[None, :], mask=col[None, :] < cols, other=0.0)
        y = tl.cumsum(x, axis=1) + carried[:, None]
        tl.store(y_ptr + row[:, None] * cols + col[None, :], y, mask=(row[:, None] < rows) & (col[None, :] < cols))
        carried = tl.sum(tl.where(col[None, :] == COLS - 1, y, 0.0), axis=1)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, cols = x.shape
        per_program, width = (1, 4096) if x.is_cuda else (64, 1024)  # the interpreter pays for every program
        _cumsum[(triton.cdiv(rows, per_program),)](x, y, rows, cols, ROWS=per_program, COLS=width, num_warps=8)
        return y
