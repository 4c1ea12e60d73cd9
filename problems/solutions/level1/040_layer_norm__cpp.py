"""Layer norm with a mean corrected for rounding; the row is read from memory once and stays in L1 (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

static void row_norm(const float* x, const float* w, const float* b, float* y, int64_t n, double eps) {
  float sum = 0;
  #pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i];
  const float near = sum / n;  // near the mean; its rounding is made good by `rest`
  float rests = 0, squares = 0;
  #pragma omp simd reduction(+ : rests, squares)
  for (int64_t i = 0; i < n; i++) {
    rests += x[i] - near;
    squares += (x[i] - near) * (x[i] - near);
  }
  const float rest = rests / n;
  const float scale = static_cast<float>(1 / std::sqrt(squares / n - static_cast<double>(rest) * rest + eps));
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] = (x[i] - near - rest) * scale * w[i] + b[i];
}

at::Tensor forward(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  auto x = input.contiguous();
  auto out = at::empty_like(x);
  const int64_t n = x.size(1);
  const float *in = x.const_data_ptr<float>(), *w = weight.const_data_ptr<float>(), *b = bias.const_data_ptr<float>();
  float* result = out.data_ptr<float>();
  at::parallel_for(0, x.size(0), 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) row_norm(in + row * n, w, b, result + row * n, n, eps);
  });
  return out;
}
"""

_ext = load_inline(
    "layer_norm_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x, self.norm.weight, self.norm.bias, self.norm.eps)
