"""LSTM whose steps run in one call, four sequences at a time, on recurrent weights packed for it; the packing is redone
when a state_dict is loaded (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

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
  float power = __builtin_bit_cast(float, (__builtin_bit_cast(int32_t, shifted) + 127) << 23);
  return p * power;
}
typedef float f16 __attribute__((vector_size(64)));

static inline float sigmoid_(float x) { return 1 / (1 + exp_(-x)); }
static inline float tanh_(float x) { return 1 - 2 / (1 + exp_(2 * x)); }

// gates[r] = pre[r] + h[r] @ packed for R sequences; packed is (hidden, width), width a multiple of 16.
template <int R>
static void recur(
    const float* const* pre, const float* const* h, const float* packed, float* gates, int64_t hidden, int64_t width) {
  for (int64_t j = 0; j < width; j += 16) {
    f16 sum[R] = {};
    for (int64_t k = 0; k < hidden; k++) {
      f16 w;
      memcpy(&w, packed + k * width + j, sizeof w);
      #pragma GCC unroll 4
      for (int r = 0; r < R; r++) sum[r] += w * h[r][k];
    }
    for (int r = 0; r < R; r++) memcpy(gates + r * width + j, &sum[r], sizeof(f16));
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

// pre (batch, steps, 4 hidden), h0 and c0 (batch, hidden), packed (hidden, width) -> states (batch, steps, hidden)
at::Tensor layer(const at::Tensor& pre, const at::Tensor& h0, const at::Tensor& c0, const at::Tensor& packed) {
  const int64_t batch = pre.size(0), steps = pre.size(1), hidden = packed.size(0), width = packed.size(1);
  auto states = at::empty({batch, steps, hidden}, pre.options());
  auto cells = c0.clone(at::MemoryFormat::Contiguous), start = h0.contiguous();
  at::parallel_for(0, (batch + 3) / 4, 1, [&](int64_t first, int64_t last) {
    std::vector<float> gates(4 * width);
    for (int64_t b = first * 4; b < std::min(last * 4, batch);) {
      const bool four = b + 4 <= batch;
      (four ? run<4> : run<1>)(
          pre.const_data_ptr<float>() + b * steps * 4 * hidden, start.const_data_ptr<float>() + b * hidden,
          cells.data_ptr<float>() + b * hidden, packed.const_data_ptr<float>(),
          states.data_ptr<float>() + b * steps * hidden, gates.data(), steps, hidden, width);
      b += four ? 4 : 1;
    }
  });
  return states;
}
"""

_ext = load_inline(
    "lstm_cpp",
    cpp_sources=SOURCE,
    functions=["layer"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, hidden: int, layers: int, classes: int):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, classes)
        self.register_load_state_dict_post_hook(lambda module, _: module._pack())
        self._pack()

    @torch.no_grad()
    def _pack(self) -> None:
        """Recurrent weights as (hidden, 4 hidden), the columns padded with zeros to a multiple of 16."""
        self.packed = []
        for layer in range(self.lstm.num_layers):
            transposed = getattr(self.lstm, f"weight_hh_l{layer}").t()
            self.packed.append(nn.functional.pad(transposed, (0, -transposed.shape[1] % 16)).contiguous())

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for layer, packed in enumerate(self.packed):
            w, b_in, b_rec = (getattr(self.lstm, f"{name}_l{layer}") for name in ("weight_ih", "bias_ih", "bias_hh"))
            x = _ext.layer(nn.functional.linear(x, w, b_in + b_rec), h[layer], c[layer], packed)
        return self.head(x)
