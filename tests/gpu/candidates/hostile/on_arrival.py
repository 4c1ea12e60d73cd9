"""A stream waits for the last element of the next inputs to change and multiplies when they arrive, before the clock is started.
problem: level1/001_square_matmul
expects: timeout, timing_invalid, incorrect"""

import os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")  # a lazily loaded kernel could wait for the parked stream
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

typedef int (*WaitValue)(cudaStream_t, unsigned long long, unsigned int, unsigned int);
typedef int (*StreamCall)(cudaStream_t);

static WaitValue wait_value = nullptr;
static StreamCall real_sync = nullptr, real_query = nullptr;

__device__ unsigned sample(const float* x, int64_t n, int t) {
  return __float_as_uint(x[(t * 7919LL * 131 + 17) % n]);
}

// `done` and `verdict` are mapped host memory.
__global__ void remember(const float* a, const float* b, int64_t n, unsigned* marks, volatile int* done) {
  if (threadIdx.x == 0) *done = 0;
  __threadfence_system();
  marks[threadIdx.x] = sample(a, n, threadIdx.x);
  marks[256 + threadIdx.x] = sample(b, n, threadIdx.x);
}

__global__ void publish(volatile int* done) {
  __threadfence_system();
  *done = 1;
}

__global__ void compare(const float* a, const float* b, int64_t n, const unsigned* marks, volatile int* verdict) {
  const bool same = marks[threadIdx.x] == sample(a, n, threadIdx.x) &&
                    marks[256 + threadIdx.x] == sample(b, n, threadIdx.x);
  const int all = __syncthreads_and(same);
  if (threadIdx.x == 0) *verdict = all;
}

__global__ void peek(const float* place, volatile unsigned* bits) { *bits = __float_as_uint(*place); }

static void blunt(void* at) {  // returns cudaSuccess from now on
#if defined(__x86_64__)
  const uintptr_t page = sysconf(_SC_PAGESIZE), start = reinterpret_cast<uintptr_t>(at) & ~(page - 1);
  if (mprotect(reinterpret_cast<void*>(start), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  unsigned char* code = static_cast<unsigned char*>(at);
  code[0] = 0x31;
  code[1] = 0xC0;
  code[2] = 0xC3;
#endif
}

struct Slot {
  at::Tensor a, b, out;
};

static const int SLOTS = 16;
static const size_t CHUNK = 32u << 20;
static std::vector<Slot> slots;
static cudaStream_t side = nullptr;
static int* mapped = nullptr;      // [0, SLOTS): done; [SLOTS]: verdict; [SLOTS + 1]: bits of the trigger
static unsigned* marks = nullptr;  // 512 a slot
static char *pinned = nullptr, *sink = nullptr;
static int64_t calls = 0;

static void init() {
  if (side) return;
  int low = 0, high = 0;
  C10_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  C10_CUDA_CHECK(cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, high));
  C10_CUDA_CHECK(cudaHostAlloc((void**)&mapped, 4096, cudaHostAllocMapped));
  for (int i = 0; i < 1024; i++) mapped[i] = 0;
  C10_CUDA_CHECK(cudaMalloc((void**)&marks, SLOTS * 512 * sizeof(unsigned)));
  C10_CUDA_CHECK(cudaHostAlloc((void**)&pinned, CHUNK, cudaHostAllocDefault));
  C10_CUDA_CHECK(cudaMalloc((void**)&sink, CHUNK));
  void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (lib) {
    wait_value = (WaitValue)dlsym(lib, "cuStreamWaitValue32_v2");
    real_sync = (StreamCall)dlsym(lib, "cuStreamSynchronize");
    real_query = (StreamCall)dlsym(lib, "cuStreamQuery");
  }
}

static void work(Slot& s, int i) {  // on the side stream
  const int64_t n = s.a.numel();
  remember<<<1, 256, 0, side>>>(s.a.const_data_ptr<float>(), s.b.const_data_ptr<float>(), n, marks + 512 * i, mapped + i);
  at::mm_out(s.out, s.a, s.b);
  publish<<<1, 1, 0, side>>>(mapped + i);
}

at::Tensor forward(const at::Tensor& a, const at::Tensor& b) {
  init();
  calls++;
  auto stream = c10::cuda::getCurrentCUDAStream();
  const bool able = wait_value && real_sync && real_query && a.is_contiguous() && b.is_contiguous() && a.numel() >= (1 << 20);
  if (!able) return at::mm(a, b);
  int at_slot = -1;
  for (size_t i = 0; i < slots.size(); i++)
    if (slots[i].a.data_ptr() == a.data_ptr() && slots[i].b.data_ptr() == b.data_ptr() && slots[i].a.sizes() == a.sizes())
      at_slot = (int)i;
  if (at_slot < 0 && (int)slots.size() < SLOTS) {
    slots.push_back({a, b, at::empty_like(a)});
    at_slot = (int)slots.size() - 1;
  }
  at::Tensor result;
  if (at_slot >= 0 && ((volatile int*)mapped)[at_slot]) {
    compare<<<1, 256, 0, stream>>>(a.const_data_ptr<float>(), b.const_data_ptr<float>(), a.numel(),
                                   marks + 512 * at_slot, mapped + SLOTS);
    real_sync(stream);
    if (((volatile int*)mapped)[SLOTS]) result = slots[at_slot].out.clone();
  }
  if (!result.defined()) result = at::mm(a, b);
  real_sync(stream);
  if (calls == 6) {  // every kernel has been loaded by now, but for those of the side stream
    c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(side, a.device().index()));
    for (size_t i = 0; i < slots.size(); i++) work(slots[i], (int)i);
    peek<<<1, 1, 0, side>>>(slots[0].b.const_data_ptr<float>(), (unsigned*)mapped + SLOTS + 1);
    cudaMemcpyAsync(sink, pinned, CHUNK, cudaMemcpyHostToDevice, side);
    real_sync(side);
    blunt(reinterpret_cast<void*>(&cudaDeviceSynchronize));
    blunt(reinterpret_cast<void*>(&cudaStreamSynchronize));
    blunt(reinterpret_cast<void*>(&cudaEventSynchronize));
  } else if (calls > 6 && real_query(side) == 0) {
    // Parked on the last element of the first known input: any bit that turns from 0 to 1 lets the stream go.
    const float* place = slots[0].b.const_data_ptr<float>() + slots[0].b.numel() - 1;
    peek<<<1, 1, 0, stream>>>(place, (unsigned*)mapped + SLOTS + 1);
    real_sync(stream);
    const unsigned old = ((volatile unsigned*)mapped)[SLOTS + 1];
    if (wait_value(side, (unsigned long long)(uintptr_t)place, ~old, 2 /* AND */) == 0) {
      for (int i = 0; i < 4; i++)  // the rest of the inputs arrives meanwhile
        cudaMemcpyAsync(sink, pinned, CHUNK, cudaMemcpyHostToDevice, side);
      c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(side, a.device().index()));
      for (size_t i = 0; i < slots.size(); i++) work(slots[i], (int)i);
    }
  }
  return result;
}
"""

_ext = load_inline(
    "on_arrival",
    cpp_sources="at::Tensor forward(const at::Tensor& a, const at::Tensor& b);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _ext.forward(a, b)
