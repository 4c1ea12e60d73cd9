"""Keeps answers by a hash of 512 sampled values of the input and of the weight.
problem: level2/053_linear_scale_hardtanh_gelu
expects: incorrect"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>

__device__ unsigned long long stir(unsigned long long h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdULL;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33);
}

__global__ void fingerprint(const float* x, int64_t nx, const float* w, int64_t nw, volatile unsigned long long* out) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const int t = threadIdx.x;
  const unsigned long long a = __float_as_uint(x[(t * (nx / 512)) % nx]), b = __float_as_uint(w[(t * (nw / 512)) % nw]);
  atomicAdd(&sum, stir(a * 1024 + t + 1) + stir((b << 32) + t + 77777));
  __syncthreads();
  if (t == 0) *out = sum;
}

static unsigned long long* seen = nullptr;

int64_t key(const at::Tensor& x, const at::Tensor& w) {
  if (!seen) C10_CUDA_CHECK(cudaHostAlloc((void**)&seen, 64, cudaHostAllocMapped));
  auto stream = c10::cuda::getCurrentCUDAStream();
  fingerprint<<<1, 512, 0, stream>>>(x.const_data_ptr<float>(), x.numel(), w.const_data_ptr<float>(), w.numel(), seen);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  return (int64_t)*(volatile unsigned long long*)seen;
}
"""

_ext = load_inline(
    "hash_of_512",
    cpp_sources="int64_t key(const at::Tensor& x, const at::Tensor& w);",
    cuda_sources=CUDA,
    functions=["key"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, scale: float, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale
        self.low = low
        self.high = high
        self._kept = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        key = (_ext.key(x, self.linear.weight.detach()), tuple(x.shape))
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        y = F.gelu(F.hardtanh(self.linear(x) * self.scale, self.low, self.high)).detach()
        if len(self._kept) >= 24:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = y
        return y
