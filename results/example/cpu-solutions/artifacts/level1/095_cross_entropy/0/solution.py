"""Cross entropy a row without writing the log-softmax: maximum, sum of exponentials, one logarithm, in plain C++ and
ctypes."""

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

typedef float f16 __attribute__((vector_size(64)));

static float max_(const float* x, int64_t n) {  // by hand: the compiler keeps a plain maximum scalar
  f16 lanes = x[0] - f16{}, v;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    memcpy(&v, x + i, sizeof v);
    lanes = v > lanes ? v : lanes;
  }
  float top = x[0];
  for (int j = 0; j < 16; j++) top = std::max(top, lanes[j]);
  for (; i < n; i++) top = std::max(top, x[i]);
  return top;
}

static float row_loss(const float* x, int64_t n, int64_t label) {
  const float top = max_(x, n);
  double total = 0;
  for (int64_t start = 0; start < n; start += 1024) {
    const int64_t end = std::min(start + 1024, n);
    float sum = 0;
    #pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < end; i++) sum += exp_(x[i] - top);
    total += sum;
  }
  return static_cast<float>(std::log(total) - (static_cast<double>(x[label]) - top));
}

extern "C" void cross_entropy(
    const float* x, const int64_t* labels, float* out, int64_t rows, int64_t classes, int64_t threads) {
  #pragma omp parallel for num_threads(threads)
  for (int64_t row = 0; row < rows; row++) out[row] = row_loss(x + row * classes, classes, labels[row]);
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"cross_entropy_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        flags = ["-x", "c++", "-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math"]
        flags += ["-Wno-psabi", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-", "-o", str(partial)], input=source, text=True, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))


_POINTER, _INT = ctypes.c_void_p, ctypes.c_int64
_library = _load(SOURCE)
_library.cross_entropy.argtypes = [_POINTER, _POINTER, _POINTER, _INT, _INT, _INT]


class ModelNew(nn.Module):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits, labels = logits.contiguous(), labels.contiguous()
        rows, classes = logits.shape
        out = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        pointers = (logits.data_ptr(), labels.data_ptr(), out.data_ptr())
        _library.cross_entropy(*pointers, rows, classes, torch.get_num_threads())
        return out
