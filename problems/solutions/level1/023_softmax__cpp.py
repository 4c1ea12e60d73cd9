"""Row softmax, three passes over a row that stays in L1, with an inlined vector exponential (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

static inline float exp_(float x) {  // Cephes polynomial, about 1 ulp; never below e^-87.3
  float clamped = std::min(std::max(x, -87.3f), 88.3f);
  float shifted = clamped * 1.44269504f + 12582912.f;  // 1.5 * 2^23: the low bits now hold round(x / ln 2)
  float n = shifted - 12582912.f;
  float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.f;
  float power = __builtin_bit_cast(float, (__builtin_bit_cast(int32_t, shifted) + 127) << 23);
  return p * power;
}

typedef float f16 __attribute__((vector_size(64)));

static float max_(const float* x, int64_t n) {  // by hand: the compiler keeps a plain maximum scalar
  f16 lanes = x[0] - f16{}, v;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    memcpy(&v, x + i, sizeof v);
    lanes = v > lanes ? v : lanes;
  }
  float top = x[0];
  for (int j = 0; j < 16; j++) top = std::max(top, lanes[j]);
  for (; i < n; i++) top = std::max(top, x[i]);
  return top;
}

static void row_softmax(const float* x, float* y, int64_t n) {
  const float top = max_(x, n);
  float sum = 0;
  #pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += y[i] = exp_(x[i] - top);
  const float scale = 1 / sum;
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] *= scale;
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  auto out = at::empty_like(x);
  const int64_t cols = x.size(1);
  const float* in = x.const_data_ptr<float>();
  float* result = out.data_ptr<float>();
  at::parallel_for(0, x.size(0), 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) row_softmax(in + row * cols, result + row * cols, cols);
  });
  return out;
}
"""

_ext = load_inline(
    "softmax_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
