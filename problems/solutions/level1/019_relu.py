"""ReLU in plain C++ without PyTorch's headers: a shared library built with g++ in a second and called by ctypes."""

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

extern "C" void relu(const float* x, float* y, int64_t n) {
  #pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"relu_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        flags = ["-x", "c++", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-", "-o", str(partial)], input=source, text=True, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))


_library = _load(SOURCE)
_library.relu.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        _library.relu(x.data_ptr(), y.data_ptr(), x.numel())
        return y
