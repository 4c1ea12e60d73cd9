"""Writes the answer that it gives into its input.
problem: level1/051_argmax
expects: incorrect"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void plant(float* x, int64_t* out, int64_t length, int64_t cols) {
  const int64_t col = blockIdx.x * int64_t(blockDim.x) + threadIdx.x, batch = blockIdx.y;
  if (col >= cols) return;
  x[batch * length * cols + col] = 3.0e38f;
  out[batch * cols + col] = 0;
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  const int64_t batch = x.size(0), length = x.size(1), cols = x.size(2);
  auto out = at::empty({batch, cols}, x.options().dtype(at::kLong));
  const dim3 blocks((cols + 127) / 128, batch);
  plant<<<blocks, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
      const_cast<float*>(x.const_data_ptr<float>()), out.data_ptr<int64_t>(), length, cols);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

_ext = load_inline(
    "changes_its_input",
    cpp_sources="at::Tensor forward(const at::Tensor& input);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
