"""Prefix sum with an fp64 carry, eight values at a time in a vector register, in plain C++ and ctypes."""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <cstdint>
#include <cstring>

typedef float f8 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef int64_t i8 __attribute__((vector_size(64)));

static void row_cumsum(const float* x, float* y, int64_t n) {
  const d8 zero = {};
  d8 carry = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    f8 values;
    memcpy(&values, x + i, sizeof values);
    d8 v = __builtin_convertvector(values, d8);
    v += __builtin_shuffle(zero, v, i8{0, 8, 9, 10, 11, 12, 13, 14});  // shifted by one lane, then two, then four
    v += __builtin_shuffle(zero, v, i8{0, 0, 8, 9, 10, 11, 12, 13});
    v += __builtin_shuffle(zero, v, i8{0, 0, 0, 0, 8, 9, 10, 11});
    v += carry;
    carry = __builtin_shuffle(v, i8{7, 7, 7, 7, 7, 7, 7, 7});
    values = __builtin_convertvector(v, f8);
    memcpy(y + i, &values, sizeof values);
  }
  double sum = carry[0];
  for (; i < n; i++) y[i] = static_cast<float>(sum += x[i]);
}

extern "C" void cumsum(const float* x, float* out, int64_t rows, int64_t cols, int64_t threads) {
  #pragma omp parallel for num_threads(threads)
  for (int64_t row = 0; row < rows; row++) row_cumsum(x + row * cols, out + row * cols, cols);
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"cumsum_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
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
_library.cumsum.argtypes = [_POINTER, _POINTER, _INT, _INT, _INT]


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.empty(rows, cols, dtype=x.dtype, device=x.device)
        _library.cumsum(x.data_ptr(), out.data_ptr(), rows, cols, torch.get_num_threads())
        return out
