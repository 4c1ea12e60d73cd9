"""Prefix sum with an fp64 carry: eight values at a time are summed inside a vector register (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

typedef float f8 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef int64_t i8 __attribute__((vector_size(64)));

static void row_cumsum(const float* x, float* y, int64_t n) {
  const d8 zero = {};
  d8 carry = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    f8 values;
    memcpy(&values, x + i, sizeof values);
    d8 v = __builtin_convertvector(values, d8);
    v += __builtin_shuffle(zero, v, i8{0, 8, 9, 10, 11, 12, 13, 14});  // shifted by one lane, then two, then four
    v += __builtin_shuffle(zero, v, i8{0, 0, 8, 9, 10, 11, 12, 13});
    v += __builtin_shuffle(zero, v, i8{0, 0, 0, 0, 8, 9, 10, 11});
    v += carry;
    carry = __builtin_shuffle(v, i8{7, 7, 7, 7, 7, 7, 7, 7});
    values = __builtin_convertvector(v, f8);
    memcpy(y + i, &values, sizeof values);
  }
  double sum = carry[0];
  for (; i < n; i++) y[i] = static_cast<float>(sum += x[i]);
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  auto out = at::empty_like(x);
  const int64_t cols = x.size(1);
  const float* in = x.const_data_ptr<float>();
  float* result = out.data_ptr<float>();
  at::parallel_for(0, x.size(0), 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) row_cumsum(in + row * cols, result + row * cols, cols);
  });
  return out;
}
"""

_ext = load_inline(
    "cumsum_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fno-trapping-math", "-fopenmp", "-Wno-psabi"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
