"""Square product: panels of 32 columns of B are packed once, tiles of 8 rows live in registers (C++, ctypes)."""

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
#include <cstdint>
#include <cstring>

typedef float f16 __attribute__((vector_size(64)));
constexpr int64_t PANEL = 32;

template <int R>
static void tile(const float* a, const float* panel, float* c, int64_t n, int64_t width) {
  f16 sums[R][2] = {};
  for (int64_t k = 0; k < n; k++) {
    f16 low, high;
    memcpy(&low, panel + k * PANEL, sizeof low);
    memcpy(&high, panel + k * PANEL + 16, sizeof high);
    for (int r = 0; r < R; r++) {
      sums[r][0] += a[r * n + k] * low;
      sums[r][1] += a[r * n + k] * high;
    }
  }
  for (int r = 0; r < R; r++) memcpy(c + r * n, sums[r], width * sizeof(float));
}

extern "C" void square_matmul(const float* a, const float* b, float* packed, float* c, int64_t n, int64_t threads) {
  const int64_t panels = (n + PANEL - 1) / PANEL;
  #pragma omp parallel num_threads(threads)
  {
    #pragma omp for schedule(static)
    for (int64_t p = 0; p < panels; p++) {  // what lies beyond the last column is zero
      const int64_t width = std::min(PANEL, n - p * PANEL);
      for (int64_t k = 0; k < n; k++) {
        float* row = packed + (p * n + k) * PANEL;
        memcpy(row, b + k * n + p * PANEL, width * sizeof(float));
        std::fill(row + width, row + PANEL, 0.f);
      }
    }
    #pragma omp for schedule(dynamic)
    for (int64_t p = 0; p < panels; p++) {
      const int64_t width = std::min(PANEL, n - p * PANEL);
      const float* panel = packed + p * n * PANEL;
      float* out = c + p * PANEL;
      int64_t row = 0;
      for (; row + 8 <= n; row += 8) tile<8>(a + row * n, panel, out + row * n, n, width);
      for (; row < n; row++) tile<1>(a + row * n, panel, out + row * n, n, width);
    }
  }
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"square_matmul_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        flags = ["-x", "c++", "-O3", "-march=native", "-mprefer-vector-width=512", "-Wno-psabi", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-", "-o", str(partial)], input=source, text=True, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))


_POINTER, _INT = ctypes.c_void_p, ctypes.c_int64
_library = _load(SOURCE)
_library.square_matmul.argtypes = [_POINTER, _POINTER, _POINTER, _POINTER, _INT, _INT]


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a.contiguous(), b.contiguous()
        n = a.shape[0]
        packed = a.new_empty((n + 31) // 32 * 32 * n)
        c = torch.empty_like(a)
        pointers = (t.data_ptr() for t in (a, b, packed, c))
        _library.square_matmul(*pointers, n, torch.get_num_threads())
        return c
