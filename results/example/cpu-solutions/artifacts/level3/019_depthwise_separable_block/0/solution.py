"""Own depthwise convolution with batch norm and ReLU6 folded in, the library's pointwise product, own batch norm and
ReLU6, a sample at a time in the cache; plain C++ and ctypes."""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

struct Affine { std::vector<float> scale, shift; };

static Affine fold(  // eval-mode batch norm as x * scale + shift
    const float* weight, const float* bias, const float* mean, const float* var, double eps, int64_t channels) {
  Affine a{std::vector<float>(channels), std::vector<float>(channels)};
  for (int64_t c = 0; c < channels; c++) {
    const double scale = weight[c] / std::sqrt(var[c] + eps);
    a.scale[c] = static_cast<float>(scale);
    a.shift[c] = static_cast<float>(bias[c] - mean[c] * scale);
  }
  return a;
}

static inline float clamp6(float v) { return std::min(std::max(v, 0.f), 6.f); }

// One plane with a border of zeros: `in` is (height + 2, width + 2), `out` is (height, width).
static void depthwise_plane(
    const float* in, const float* k, float* out, int64_t height, int64_t width, float scale, float shift) {
  const int64_t pitch = width + 2;
  for (int64_t row = 0; row < height; row++) {
    const float *a = in + row * pitch, *b = a + pitch, *c = b + pitch;
    float* y = out + row * width;
    #pragma omp simd
    for (int64_t i = 0; i < width; i++) {
      float top = k[0] * a[i] + k[1] * a[i + 1] + k[2] * a[i + 2];
      float middle = k[3] * b[i] + k[4] * b[i + 1] + k[5] * b[i + 2];
      float bottom = k[6] * c[i] + k[7] * c[i + 1] + k[8] * c[i + 2];
      y[i] = clamp6((top + middle + bottom) * scale + shift);
    }
  }
}

static void scale_relu6(float* v, int64_t n, float scale, float shift) {
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] = clamp6(v[i] * scale + shift);
}

extern "C" void depthwise(
    const float* in, const float* kernel, float* out, const float* weight, const float* bias, const float* mean,
    const float* var, double eps, int64_t channels, int64_t height, int64_t width, int64_t threads) {
  const Affine bn = fold(weight, bias, mean, var, eps, channels);
  const int64_t plane = height * width;
  #pragma omp parallel num_threads(threads)
  {
    std::vector<float> padded((height + 2) * (width + 2), 0.f);
    #pragma omp for
    for (int64_t c = 0; c < channels; c++) {
      for (int64_t row = 0; row < height; row++)
        memcpy(&padded[(row + 1) * (width + 2) + 1], in + c * plane + row * width, width * sizeof(float));
      depthwise_plane(padded.data(), kernel + c * 9, out + c * plane, height, width, bn.scale[c], bn.shift[c]);
    }
  }
}

extern "C" void finish(
    float* v, const float* weight, const float* bias, const float* mean, const float* var, double eps,
    int64_t channels, int64_t plane, int64_t threads) {
  const Affine bn = fold(weight, bias, mean, var, eps, channels);
  #pragma omp parallel for num_threads(threads)
  for (int64_t c = 0; c < channels; c++) scale_relu6(v + c * plane, plane, bn.scale[c], bn.shift[c]);
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"depthwise_separable_block_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
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
_library.depthwise.argtypes = [_POINTER] * 7 + [_DOUBLE] + [_INT] * 4
_library.finish.argtypes = [_POINTER] * 5 + [_DOUBLE] + [_INT] * 3


def _state(bn: nn.BatchNorm2d) -> tuple:
    values = (bn.weight, bn.bias, bn.running_mean, bn.running_var)
    return *(value.data_ptr() for value in values), bn.eps


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(in_channels, in_channels, 3, padding=1, groups=in_channels, bias=False)
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.pointwise = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, threads = x.contiguous(), torch.get_num_threads()
        batch, channels, height, width = x.shape
        kernel, product = self.depthwise.weight.data_ptr(), self.pointwise.weight.detach().flatten(1)
        before, after = _state(self.bn1), _state(self.bn2)
        middle = torch.empty(channels, height * width, dtype=x.dtype, device=x.device)
        out = torch.empty(batch, product.shape[0], height, width, dtype=x.dtype, device=x.device)
        for image, y in zip(x, out.flatten(2), strict=True):
            _library.depthwise(image.data_ptr(), kernel, middle.data_ptr(), *before, channels, height, width, threads)
            torch.mm(product, middle, out=y)
            _library.finish(y.data_ptr(), *after, y.shape[0], height * width, threads)
        return out
