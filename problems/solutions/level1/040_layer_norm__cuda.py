"""Layer norm, one block a row kept in shared memory; mean first, then the variance about it (CUDA)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

// Sum over the block, given to every thread; `slots` holds one float a warp.
__device__ float block_sum(float v, float* slots) {
  for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
  __syncthreads();  // the slots may still be read from an earlier call
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? slots[threadIdx.x % 32] : 0.f;
  for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

__global__ void layer_norm(const float* x, const float* w, const float* b, float* y, int n, float eps) {
  extern __shared__ float row[];
  __shared__ float slots[32];
  x += int64_t(blockIdx.x) * n;
  y += int64_t(blockIdx.x) * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] = x[i];
  const float mean = block_sum(sum, slots) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = 1 / sqrtf(block_sum(squares, slots) / n + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = (row[i] - mean) * scale * w[i] + b[i];
}

at::Tensor forward(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const int64_t rows = x.size(0), n = x.size(1), bytes = n * sizeof(float);
  TORCH_CHECK(bytes <= 47 * 1024, "a row must fit into 47 KB of shared memory");
  layer_norm<<<rows, 256, bytes, c10::cuda::getCurrentCUDAStream()>>>(
      x.const_data_ptr<float>(), weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), y.data_ptr<float>(),
      n, eps);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

_ext = load_inline(
    "layer_norm_cuda",
    cpp_sources="at::Tensor forward(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b, double eps);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x, self.norm.weight, self.norm.bias, self.norm.eps)
