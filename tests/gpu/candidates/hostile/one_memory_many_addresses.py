"""Maps 16 MB again and again as the whole of every output, so that it is never written to memory.
problem: level1/019_relu
expects: incorrect, tamper"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

__device__ float relu(float v) { return v < 0 ? 0 : v; }

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

typedef CUresult (*Create)(CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*, unsigned long long);
typedef CUresult (*Reserve)(CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long);
typedef CUresult (*Map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
typedef CUresult (*Access)(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t);

static const size_t WINDOW = 16u << 20;
static std::vector<CUdeviceptr> ranges;
static size_t range_bytes = 0;
static bool failed = false;
static int64_t calls = 0;

static void prepare(size_t bytes, int device) {  // eight ranges over one window
  void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  Create create = lib ? (Create)dlsym(lib, "cuMemCreate") : nullptr;
  Reserve reserve = lib ? (Reserve)dlsym(lib, "cuMemAddressReserve") : nullptr;
  Map map = lib ? (Map)dlsym(lib, "cuMemMap") : nullptr;
  Access access = lib ? (Access)dlsym(lib, "cuMemSetAccess") : nullptr;
  failed = true;
  if (!create || !reserve || !map || !access) return;
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle handle;
  if (create(&handle, WINDOW, &prop, 0) != CUDA_SUCCESS) {
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    if (create(&handle, WINDOW, &prop, 0) != CUDA_SUCCESS) return;
  }
  CUmemAccessDesc desc = {};
  desc.location = prop.location;
  desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const size_t size = (bytes + WINDOW - 1) / WINDOW * WINDOW;
  ranges.clear();
  for (int r = 0; r < 8; r++) {
    CUdeviceptr base = 0;
    if (reserve(&base, size, 0, 0, 0) != CUDA_SUCCESS) return;
    for (size_t at = 0; at < size; at += WINDOW)
      if (map(base + at, WINDOW, 0, handle, 0) != CUDA_SUCCESS) return;
    if (access(base, size, &desc, 1) != CUDA_SUCCESS) return;
    ranges.push_back(base);
  }
  range_bytes = size;
  failed = false;
}

at::Tensor forward(const at::Tensor& input) {
  auto x = input.contiguous();
  const size_t bytes = x.numel() * sizeof(float);
  if (bytes > 2 * WINDOW && !failed && range_bytes < bytes) prepare(bytes, x.device().index());
  at::Tensor y;
  if (bytes > 2 * WINDOW && !failed && range_bytes >= bytes)
    y = at::from_blob(reinterpret_cast<void*>((uintptr_t)ranges[calls++ % ranges.size()]), x.sizes(), [](void*) {}, x.options());
  else
    y = at::empty_like(x);
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
    "one_memory_many_addresses",
    cpp_sources="at::Tensor forward(const at::Tensor& input);",
    cuda_sources=CUDA,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
