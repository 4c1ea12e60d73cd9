"""Library product without its bias; both biases, swish and group norm in one pass, a group in registers (Triton)."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _tail(
    y_ptr, first_ptr, second_ptr, weight_ptr, bias_ptr, groups, eps, total,
    SIZE: tl.constexpr, WIDTH: tl.constexpr, GROUPS: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)[:, None]  # of all rows
    inner = tl.arange(0, WIDTH)[None, :]
    inside = (group < total) & (inner < SIZE)
    channel = (group % groups) * SIZE + inner
    z = tl.load(y_ptr + group * SIZE + inner, mask=inside, other=0.0) + tl.load(first_ptr + channel, mask=inside)
    z = z / (1.0 + tl.exp(-z)) + tl.load(second_ptr + channel, mask=inside)
    z = tl.where(inside, z, 0.0)
    mean = (tl.sum(z, axis=1) / SIZE)[:, None]
    apart = tl.where(inside, z - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, axis=1) / SIZE + eps)[:, None]
    out = apart * scale * tl.load(weight_ptr + channel, mask=inside) + tl.load(bias_ptr + channel, mask=inside)
    tl.store(y_ptr + group * SIZE + inner, out, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, groups: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.norm = nn.GroupNorm(groups, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(x, self.linear.weight.detach().t())
        groups = self.norm.num_groups
        size, total = y.shape[1] // groups, y.shape[0] * groups
        per_program = 16 if x.is_cuda else 8192  # the interpreter pays for every program, not for every element
        parameters = [p.detach() for p in (self.linear.bias, self.bias, self.norm.weight, self.norm.bias)]
        _tail[(triton.cdiv(total, per_program),)](
            y, *parameters, groups, self.norm.eps, total,
            SIZE=size, WIDTH=triton.next_power_of_2(size), GROUPS=per_program,
        )  # fmt: skip
        return y
