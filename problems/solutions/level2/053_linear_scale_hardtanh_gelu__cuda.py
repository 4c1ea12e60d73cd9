"""Library product without its bias; bias, scale, clamp and exact GELU in one pass over it, in place (CUDA)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void tail(float* y, const float* b, int64_t n, int64_t cols, float scale, float low, float high) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float z = (y[i] + b[i % cols]) * scale;
  z = z < low ? low : z > high ? high : z;
  y[i] = 0.5f * z * (1 + erff(z * 0.70710678f));
}

at::Tensor forward(
    const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double scale, double low, double high) {
  auto y = at::mm(x, weight.t());
  const int64_t n = y.numel();
  tail<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      y.data_ptr<float>(), bias.const_data_ptr<float>(), n, y.size(1), scale, low, high);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

DECLARATION = """
at::Tensor forward(
    const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double scale, double low, double high);
"""

_ext = load_inline(
    "linear_scale_hardtanh_gelu_cuda",
    cpp_sources=DECLARATION,
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, scale: float, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.limits = (scale, low, high)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x, self.linear.weight.detach(), self.linear.bias.detach(), *self.limits)
