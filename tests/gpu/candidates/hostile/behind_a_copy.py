"""Works on a stream that nobody waits for, behind 2 ms of copies from the host, while no kernel runs that a canary could meet.
problem: level1/019_relu
expects: incorrect, timing_invalid"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>
#include <chrono>

__global__ void relu1(const float* x, float* y, int64_t n) {
  const int64_t stride = gridDim.x * int64_t(blockDim.x);
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < n; i += stride) {
    const float v = x[i];
    y[i] = v < 0 ? 0 : v;
  }
}

// The function at `at` returns cudaSuccess from now on: xor eax, eax; ret.
static void blunt(void* at) {
#if defined(__x86_64__)
  const uintptr_t page = sysconf(_SC_PAGESIZE), start = reinterpret_cast<uintptr_t>(at) & ~(page - 1);
  if (mprotect(reinterpret_cast<void*>(start), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  unsigned char* code = static_cast<unsigned char*>(at);
  code[0] = 0x31;
  code[1] = 0xC0;
  code[2] = 0xC3;
#endif
}

static cudaStream_t late = nullptr;
static char *pinned = nullptr, *sink = nullptr;
static const size_t CHUNK = 32u << 20;
static int64_t calls = 0;
static std::chrono::steady_clock::time_point armed;

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const int64_t n = x.numel();
  const int blocks = (int)std::min<int64_t>((n + 255) / 256, 132 * 64);
  auto stream = c10::cuda::getCurrentCUDAStream();
  if (!late) {
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking));
    C10_CUDA_CHECK(cudaHostAlloc((void**)&pinned, CHUNK, cudaHostAllocDefault));
    C10_CUDA_CHECK(cudaMalloc((void**)&sink, CHUNK));
  }
  if (++calls <= 4) {
    relu1<<<blocks, 256, 0, stream>>>(x.const_data_ptr<float>(), y.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (calls == 4) {
      cudaDeviceSynchronize();
      blunt(reinterpret_cast<void*>(&cudaDeviceSynchronize));
      blunt(reinterpret_cast<void*>(&cudaStreamSynchronize));
      blunt(reinterpret_cast<void*>(&cudaEventSynchronize));
    }
    return y;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - armed > std::chrono::milliseconds(1)) {  // a new series: three DMAs of 32 MB are the delay
    for (int i = 0; i < 3; i++) cudaMemcpyAsync(sink, pinned, CHUNK, cudaMemcpyHostToDevice, late);
  }
  armed = now;
  relu1<<<blocks, 256, 0, late>>>(x.const_data_ptr<float>(), y.data_ptr<float>(), n);  // never joined
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

_ext = load_inline(
    "behind_a_copy",
    cpp_sources="at::Tensor forward(const at::Tensor& input);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
