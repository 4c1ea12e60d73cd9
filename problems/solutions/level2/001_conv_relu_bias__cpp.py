"""Library convolution; its bias, ReLU and the added bias in one pass over each plane (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

static void tail(float* v, int64_t n, float before, float after) {
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] = std::max(v[i] + before, 0.f) + after;
}

at::Tensor forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& conv_bias, const at::Tensor& bias) {
  auto y = at::conv2d(x, weight).contiguous();
  const int64_t channels = y.size(1), plane = y.size(2) * y.size(3);
  const float *before = conv_bias.const_data_ptr<float>(), *after = bias.const_data_ptr<float>();
  float* v = y.data_ptr<float>();
  at::parallel_for(0, y.size(0) * channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++) tail(v + p * plane, plane, before[p % channels], after[p % channels]);
  });
  return y;
}
"""

_ext = load_inline(
    "conv_relu_bias_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        self.bias = nn.Parameter(torch.empty(out_channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x, self.conv.weight, self.conv.bias, self.bias)
