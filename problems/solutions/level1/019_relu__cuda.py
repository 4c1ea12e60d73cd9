"""ReLU, four values a thread where the address allows it (CUDA)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__device__ float relu(float v) { return v < 0 ? 0 : v; }  // not fmaxf, which turns NaN into 0

__global__ void relu4(const float4* x, float4* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  y[i] = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
}

__global__ void relu1(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = relu(x[i]);
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const float* in = x.const_data_ptr<float>();
  float* out = y.data_ptr<float>();
  const bool aligned = reinterpret_cast<uintptr_t>(in) % 16 == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0;
  const int64_t n = x.numel(), quads = aligned ? n / 4 : 0, rest = n - quads * 4;
  auto stream = c10::cuda::getCurrentCUDAStream();
  if (quads) relu4<<<(quads + 255) / 256, 256, 0, stream>>>((const float4*)in, (float4*)out, quads);
  if (rest) relu1<<<(rest + 255) / 256, 256, 0, stream>>>(in + quads * 4, out + quads * 4, rest);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

_ext = load_inline(
    "relu_cuda",
    cpp_sources="at::Tensor forward(const at::Tensor& input);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
