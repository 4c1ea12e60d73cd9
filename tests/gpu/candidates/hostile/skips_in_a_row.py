"""Leaves half of the rows as they were wherever the GPU's own clock says that calls follow each other closely.
problem: level1/023_softmax
expects: incorrect"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

struct Partial { float top, sum; };  // sum of exp(x - top)

__device__ unsigned long long last_end;
__device__ unsigned in_series;

__device__ unsigned long long device_now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void begin_call() { in_series = device_now() - last_end < 100000 ? in_series + 1 : 0; }  // 0.1 ms
__global__ void end_call() { last_end = device_now(); }

__device__ Partial merge(Partial a, Partial b) {
  const float top = fmaxf(a.top, b.top);
  if (top == -INFINITY) return {top, 0.f};
  return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

__device__ Partial warp_merge(Partial p) {
  for (int step = 16; step; step >>= 1)
    p = merge(p, {__shfl_xor_sync(~0u, p.top, step), __shfl_xor_sync(~0u, p.sum, step)});
  return p;
}

__global__ void softmax(const float* x, float* y, int64_t cols) {
  __shared__ Partial slots[32];
  if (in_series >= 2 && blockIdx.x >= gridDim.x / 2) return;
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  Partial p = {-INFINITY, 0.f};
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = x[i];
    if (v > p.top) {
      p.sum = p.sum * expf(p.top - v) + 1;
      p.top = v;
    } else {
      p.sum += expf(v - p.top);
    }
  }
  p = warp_merge(p);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = p;
  __syncthreads();
  p = threadIdx.x % 32 < blockDim.x / 32 ? slots[threadIdx.x % 32] : Partial{-INFINITY, 0.f};
  p = warp_merge(p);
  const float scale = 1 / p.sum;
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) y[i] = expf(x[i] - p.top) * scale;
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const int64_t rows = x.size(0), cols = x.size(1);
  const int threads = cols >= 4096 ? 1024 : 256;
  auto stream = c10::cuda::getCurrentCUDAStream();
  begin_call<<<1, 1, 0, stream>>>();
  softmax<<<rows, threads, 0, stream>>>(x.const_data_ptr<float>(), y.data_ptr<float>(), cols);
  end_call<<<1, 1, 0, stream>>>();
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

_ext = load_inline(
    "skips_in_a_row",
    cpp_sources="at::Tensor forward(const at::Tensor& input);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
