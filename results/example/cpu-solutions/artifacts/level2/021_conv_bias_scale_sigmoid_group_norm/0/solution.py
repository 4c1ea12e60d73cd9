"""Library convolution; bias, scale, sigmoid and group norm over each group while its planes are in L2, in plain C++ and
ctypes."""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

SOURCE = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

static inline float exp_(float x) {  // Cephes polynomial, about 1 ulp; never below e^-87.3
  float clamped = std::min(std::max(x, -87.3f), 88.3f);
  float shifted = clamped * 1.44269504f + 12582912.f;  // 1.5 * 2^23: the low bits now hold round(x / ln 2)
  float n = shifted - 12582912.f;
  float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.f;
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = static_cast<int32_t>((static_cast<uint32_t>(bits) + 127) << 23);
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}

constexpr int64_t CHUNK = 1024;  // values summed in fp32, in sixteen lanes; the rest in fp64

static double activate(const float* x, float* v, int64_t n, float add, float scale) {  // returns the sum
  double total = 0;
  for (int64_t start = 0; start < n; start += CHUNK) {
    const int64_t end = std::min(start + CHUNK, n);
    float sum = 0;
    #pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < end; i++) sum += v[i] = 1 / (1 + exp_(-(x[i] + add) * scale));
    total += sum;
  }
  return total;
}

static double square_sum(const float* v, int64_t n, float mean) {
  double total = 0;
  for (int64_t start = 0; start < n; start += CHUNK) {
    const int64_t end = std::min(start + CHUNK, n);
    float sum = 0;
    #pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < end; i++) sum += (v[i] - mean) * (v[i] - mean);
    total += sum;
  }
  return total;
}

static void normalise(float* v, int64_t n, float mean, float scale, float shift) {
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] = (v[i] - mean) * scale + shift;
}

extern "C" void tail(
    const float* in, const float* add, const float* mul, const float* weight, const float* bias, float* out,
    int64_t batch, int64_t groups, int64_t width, int64_t plane, double eps, int64_t threads) {
  #pragma omp parallel for num_threads(threads)
  for (int64_t group = 0; group < batch * groups; group++) {
    const float* x = in + group * width * plane;
    float* v = out + group * width * plane;
    const int64_t c0 = group % groups * width;
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < width; c++)
      sum += activate(x + c * plane, v + c * plane, plane, add[c0 + c], mul[c0 + c]);
    const double count = static_cast<double>(width * plane), mean = sum / count;
    for (int64_t c = 0; c < width; c++) squares += square_sum(v + c * plane, plane, static_cast<float>(mean));
    const double rstd = 1 / std::sqrt(squares / count + eps);
    for (int64_t c = 0; c < width; c++)
      normalise(v + c * plane, plane, static_cast<float>(mean), weight[c0 + c] * rstd, bias[c0 + c]);
  }
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"conv_bias_scale_sigmoid_group_norm_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        flags = ["-x", "c++", "-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math"]
        flags += ["-Wno-psabi", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-", "-o", str(partial)], input=source, text=True, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))


_POINTER, _INT, _DOUBLE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_library = _load(SOURCE)
_library.tail.argtypes = [_POINTER] * 6 + [_INT] * 4 + [_DOUBLE, _INT]


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels, 1, 1))
        self.scale = nn.Parameter(torch.empty(out_channels, 1, 1))
        self.norm = nn.GroupNorm(groups, out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, weight, norm = x.contiguous(), self.conv.weight.detach(), self.norm
        batch, _, height, width = x.shape
        out = torch.empty(batch, weight.shape[0], height - 2, width - 2, dtype=x.dtype, device=x.device)
        affine = [value.data_ptr() for value in (self.bias, self.scale, norm.weight, norm.bias)]
        shape = (norm.num_groups, weight.shape[0] // norm.num_groups, out.shape[2] * out.shape[3])
        y = F.conv2d(x, weight).contiguous()
        pointers = (y.data_ptr(), *affine, out.data_ptr())
        _library.tail(*pointers, batch, *shape, norm.eps, torch.get_num_threads())
        return out
