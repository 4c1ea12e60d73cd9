"""LSTM whose steps run in one call, up to eight sequences at a time, on recurrent weights packed anew in every call;
plain C++ and ctypes."""

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
#include <cstdint>
#include <cstring>
#include <vector>

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

constexpr int64_t PANEL = 32;  // gates: two vector registers for each sequence

static inline float sigmoid_(float x) { return 1 / (1 + exp_(-x)); }
static inline float tanh_(float x) { return 1 - 2 / (1 + exp_(2 * x)); }

// gates[r] = pre[r] + h[r] @ weight.T for R sequences; packed is (panels, hidden, PANEL).
template <int R>
static void recur(
    const float* const* pre, const float* const* h, const float* packed, float* gates, int64_t hidden, int64_t width) {
  for (int64_t j = 0; j < width; j += PANEL) {
    f16 left[R] = {}, right[R] = {};
    const float* w = packed + j * hidden;
    for (int64_t k = 0; k < hidden; k++, w += PANEL) {
      f16 a, b;
      memcpy(&a, w, sizeof a);
      memcpy(&b, w + 16, sizeof b);
      #pragma GCC unroll 8
      for (int r = 0; r < R; r++) {
        left[r] += a * h[r][k];
        right[r] += b * h[r][k];
      }
    }
    #pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      memcpy(gates + r * width + j, &left[r], sizeof(f16));
      memcpy(gates + r * width + j + 16, &right[r], sizeof(f16));
    }
  }
  for (int r = 0; r < R; r++)
    for (int64_t j = 0; j < 4 * hidden; j++) gates[r * width + j] += pre[r][j];
}

static void cell(const float* gates, float* c, float* h, int64_t hidden) {
  const float *in = gates, *forget = in + hidden, *fresh = forget + hidden, *out = fresh + hidden;
  #pragma omp simd
  for (int64_t j = 0; j < hidden; j++) {
    c[j] = sigmoid_(forget[j]) * c[j] + sigmoid_(in[j]) * tanh_(fresh[j]);
    h[j] = sigmoid_(out[j]) * tanh_(c[j]);
  }
}

template <int R>
static void run(
    const float* pre, const float* h0, float* c, const float* packed, float* states, float* gates, int64_t steps,
    int64_t hidden, int64_t width) {
  const float *before[R], *gate_in[R];
  for (int64_t t = 0; t < steps; t++) {
    for (int r = 0; r < R; r++) {
      gate_in[r] = pre + (r * steps + t) * 4 * hidden;
      before[r] = t ? states + (r * steps + t - 1) * hidden : h0 + r * hidden;
    }
    recur<R>(gate_in, before, packed, gates, hidden, width);
    for (int r = 0; r < R; r++) cell(gates + r * width, c + r * hidden, states + (r * steps + t) * hidden, hidden);
  }
}

// pre (batch, steps, 4 hidden), h0 and c0 (batch, hidden), weight (4 hidden, hidden) -> states (batch, steps, hidden)
extern "C" void layer(
    const float* pre, const float* h0, const float* c0, const float* weight, float* states, int64_t batch,
    int64_t steps, int64_t hidden, int64_t threads) {
  const int64_t gate_count = 4 * hidden, width = (gate_count + PANEL - 1) / PANEL * PANEL;
  std::vector<float> packed(width * hidden), cells(c0, c0 + batch * hidden);
  const int64_t group = batch >= 8 * threads ? 8 : 4;  // sequences
  #pragma omp parallel num_threads(threads)
  {
    #pragma omp for
    for (int64_t j = 0; j < width; j += PANEL)
      for (int64_t k = 0; k < hidden; k++)
        for (int64_t lane = 0; lane < std::min(PANEL, gate_count - j); lane++)
          packed[(j * hidden) + k * PANEL + lane] = weight[(j + lane) * hidden + k];
    std::vector<float> gates(group * width);
    #pragma omp for schedule(dynamic)
    for (int64_t start = 0; start < batch; start += group) {
      const int64_t end = std::min(start + group, batch);
      for (int64_t b = start; b < end;) {
        const int64_t count = end - b >= 8 ? 8 : end - b >= 4 ? 4 : end - b >= 2 ? 2 : 1;
        (count == 8 ? run<8> : count == 4 ? run<4> : count == 2 ? run<2> : run<1>)(
            pre + b * steps * gate_count, h0 + b * hidden, cells.data() + b * hidden, packed.data(),
            states + b * steps * hidden, gates.data(), steps, hidden, width);
        b += count;
      }
    }
  }
}
"""


def _load(source: str) -> ctypes.CDLL:
    folder = Path(os.environ.get("TORCH_EXTENSIONS_DIR", tempfile.gettempdir()))
    library = folder / f"lstm_{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
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
_library.layer.argtypes = [_POINTER] * 5 + [_INT] * 4


class ModelNew(nn.Module):
    def __init__(self, in_features: int, hidden: int, layers: int, classes: int):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        x, h, c = x.contiguous(), h.contiguous(), c.contiguous()
        batch, steps, _ = x.shape
        for layer in range(self.lstm.num_layers):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            w, recurrent, b_in, b_rec = (getattr(self.lstm, f"{name}_l{layer}").detach() for name in names)
            pre = F.linear(x, w, b_in + b_rec)
            states = torch.empty(batch, steps, recurrent.shape[1], dtype=x.dtype, device=x.device)
            pointers = [value.data_ptr() for value in (pre, h[layer], c[layer], recurrent, states)]
            _library.layer(*pointers, batch, steps, recurrent.shape[1], torch.get_num_threads())
            x = states
        return self.head(x)
