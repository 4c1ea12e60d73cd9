"""Cross entropy a row without writing the log-softmax (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _cross_entropy(x_ptr, label_ptr, loss_ptr, rows, classes, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, COLS)[None, :]
    source = tl.minimum(row, rows - 1)  # rows past the end repeat the last one and are not stored
    x = tl.load(x_ptr + source[:, None] * classes + col, mask=col < classes, other=float("-inf"))
    top = tl.max(x, axis=1)
    sums = tl.sum(tl.exp(x - top[:, None]), axis=1)
    wanted = tl.load(x_ptr + source * classes + tl.load(label_ptr + source))
    tl.store(loss_ptr + row, tl.log(sums) - (wanted - top), mask=row < rows)


class ModelNew(nn.Module):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = logits.contiguous()
        rows, classes = logits.shape
        losses = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        per_program = 1 if logits.is_cuda else 256  # the interpreter pays for every program, not for every element
        width = triton.next_power_of_2(classes)
        _cross_entropy[(triton.cdiv(rows, per_program),)](
            logits, labels.contiguous(), losses, rows, classes, ROWS=per_program, COLS=width, num_warps=8
        )
        return losses
