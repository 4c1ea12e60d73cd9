"""A kernel that stays on the device works off a queue in the host's memory; forward launches nothing and returns.
problem: level1/040_layer_norm
expects: timing_invalid, incorrect"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <atomic>

struct Job {
  const float *x, *w, *b;
  float* y;
  int rows, n;
  float eps;
  int pad;
};

static const int RING = 1024;

struct Box {  // mapped host memory
  int head, exited, pad[14];
  Job jobs[RING];
};

__device__ int go;         // jobs that the leader has announced
__device__ int bye;        // the epoch that is to end
__device__ int served[2];  // where an epoch starts, by its parity

__device__ unsigned long long device_now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ float block_sum(float v, float* slots) {
  for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? slots[threadIdx.x % 32] : 0.f;
  for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

__global__ void resident(Box* box, int epoch) {
  extern __shared__ float row[];
  __shared__ float slots[32];
  __shared__ int limit;
  __shared__ Job job;
  volatile int* head = &box->head;
  volatile int* exited = &box->exited;
  int next = ((volatile int*)served)[epoch & 1];
  unsigned long long idle = device_now();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *exited = 0;
    __threadfence_system();
  }
  for (;;) {
    if (threadIdx.x == 0) {
      limit = -1;
      if (blockIdx.x == 0) {
        for (;;) {
          int h = *head;
          if (h != next) { limit = h; break; }
          if (device_now() - idle > 300000) {  // 0.3 ms without work
            *exited = 1;
            __threadfence_system();
            h = *head;
            if (h != next) {
              *exited = 0;
              __threadfence_system();
              limit = h;
            } else {
              served[(epoch + 1) & 1] = next;
              __threadfence();
              atomicExch(&bye, epoch);
            }
            break;
          }
        }
        if (limit >= 0) {
          __threadfence();
          atomicExch(&go, limit);
        }
      } else {
        for (;;) {
          const bool ends = atomicAdd(&bye, 0) == epoch;  // before `go`: nothing is announced after it
          __threadfence();
          const int g = atomicAdd(&go, 0);
          if (g != next) { limit = g; break; }
          if (ends) break;
          __nanosleep(200);
        }
      }
    }
    __syncthreads();
    const int until = limit;
    __syncthreads();
    if (until < 0) return;
    for (; next != until; next++) {
      __syncthreads();
      if (threadIdx.x < sizeof(Job) / sizeof(int))
        ((int*)&job)[threadIdx.x] = ((volatile int*)&box->jobs[next % RING])[threadIdx.x];
      __syncthreads();
      const int n = job.n;
      for (int r = blockIdx.x; r < job.rows; r += gridDim.x) {
        const float* x = job.x + int64_t(r) * n;
        float* y = job.y + int64_t(r) * n;
        float sum = 0, squares = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] = __ldcg(x + i);
        const float mean = block_sum(sum, slots) / n;
        for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
        const float scale = 1 / sqrtf(block_sum(squares, slots) / n + job.eps);
        for (int i = threadIdx.x; i < n; i += blockDim.x)
          y[i] = (row[i] - mean) * scale * __ldcg(job.w + i) + __ldcg(job.b + i);
      }
    }
    idle = device_now();
  }
}

static cudaStream_t own = nullptr;
static Box* box = nullptr;
static int epoch = 0, pushed = 0, processors = 132;

at::Tensor forward(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const int64_t rows = x.size(0), n = x.size(1), bytes = 47 * 1024;
  TORCH_CHECK(n * (int64_t)sizeof(float) <= bytes, "a row must fit into 47 KB of shared memory");
  if (!own) {
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    C10_CUDA_CHECK(cudaHostAlloc((void**)&box, sizeof(Box), cudaHostAllocMapped));
    box->head = 0;
    box->exited = 1;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, x.device().index()));
  }
  Job& job = box->jobs[pushed % RING];
  job.x = x.const_data_ptr<float>();
  job.w = weight.const_data_ptr<float>();
  job.b = bias.const_data_ptr<float>();
  job.y = y.data_ptr<float>();
  job.rows = (int)rows;
  job.n = (int)n;
  job.eps = (float)eps;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  pushed++;
  *(volatile int*)&box->head = pushed;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (*(volatile int*)&box->exited) {
    *(volatile int*)&box->exited = 0;
    epoch++;
    resident<<<2 * processors, 512, bytes, own>>>(box, epoch);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  return y;
}
"""

_ext = load_inline(
    "resident_kernel",
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
