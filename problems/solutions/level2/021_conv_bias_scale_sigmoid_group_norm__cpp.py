"""Library convolution; bias, scale, sigmoid and group norm over each group while its planes are in L2 (C++)."""

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
static double activate(float* v, int64_t n, float add, float scale) {  // returns the sum
  float sum = 0;
  #pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += v[i] = 1 / (1 + exp_(-(v[i] + add) * scale));
  return sum;
}

static double square_sum(const float* v, int64_t n, float mean) {
  float sum = 0;
  #pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
  return sum;
}

static void normalise(float* v, int64_t n, float mean, float scale, float shift) {
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] = (v[i] - mean) * scale + shift;
}

at::Tensor forward(
    const at::Tensor& x, const at::Tensor& conv_weight, const at::Tensor& bias, const at::Tensor& scale,
    const at::Tensor& norm_weight, const at::Tensor& norm_bias, int64_t groups, double eps) {
  auto y = at::conv2d(x, conv_weight).contiguous();
  const int64_t channels = y.size(1), width = channels / groups, plane = y.size(2) * y.size(3);
  const float *add = bias.const_data_ptr<float>(), *mul = scale.const_data_ptr<float>();
  const float *w = norm_weight.const_data_ptr<float>(), *b = norm_bias.const_data_ptr<float>();
  float* values = y.data_ptr<float>();
  at::parallel_for(0, y.size(0) * groups, 1, [&](int64_t first, int64_t last) {
    for (int64_t group = first; group < last; group++) {
      float* v = values + group * width * plane;
      const int64_t c0 = group % groups * width;
      double sum = 0, squares = 0;
      for (int64_t c = 0; c < width; c++) sum += activate(v + c * plane, plane, add[c0 + c], mul[c0 + c]);
      const double count = static_cast<double>(width * plane), mean = sum / count;
      for (int64_t c = 0; c < width; c++) squares += square_sum(v + c * plane, plane, mean);
      const double rstd = 1 / std::sqrt(squares / count + eps);
      for (int64_t c = 0; c < width; c++) normalise(v + c * plane, plane, mean, w[c0 + c] * rstd, b[c0 + c]);
    }
  });
  return y;
}
"""

_ext = load_inline(
    "conv_bias_scale_sigmoid_group_norm_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels, 1, 1))
        self.scale = nn.Parameter(torch.empty(out_channels, 1, 1))
        self.norm = nn.GroupNorm(groups, out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        norm = self.norm
        affine = (self.bias, self.scale, norm.weight, norm.bias, norm.num_groups, norm.eps)
        return _ext.forward(x, self.conv.weight, *affine)
