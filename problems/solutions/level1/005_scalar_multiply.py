"""Matrix times a number that is read from its tensor in every call (C++, ctypes)."""

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

extern "C" void scalar_multiply(const float* x, const float* factor, float* y, int64_t n, int64_t threads) {
  const float by = *factor;
  #pragma omp parallel for simd schedule(static) num_threads(threads)
  for (int64_t i = 0; i < n; i++) y[i] = x[i] * by;
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"scalar_multiply_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        flags = ["-x", "c++", "-O3", "-march=native", "-mprefer-vector-width=512", "-Wno-psabi", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-", "-o", str(partial)], input=source, text=True, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))


_POINTER, _INT = ctypes.c_void_p, ctypes.c_int64
_library = _load(SOURCE)
_library.scalar_multiply.argtypes = [_POINTER, _POINTER, _POINTER, _INT, _INT]


class ModelNew(nn.Module):
    def forward(self, matrix: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        matrix = matrix.contiguous()
        y = torch.empty_like(matrix)
        pointers = (t.data_ptr() for t in (matrix, factor, y))
        _library.scalar_multiply(*pointers, matrix.numel(), torch.get_num_threads())
        return y
