"""Own depthwise convolution with batch norm and ReLU6 folded in, then the pointwise product by strips of pixels, each
finished in L2 (C++)."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

constexpr int64_t STRIP = 448;  // pixels

static float clamp6(float v) { return std::min(std::max(v, 0.f), 6.f); }

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

static void shift_relu6(float* v, int64_t n, float shift) {
  #pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] = clamp6(v[i] + shift);
}

at::Tensor forward(
    const at::Tensor& input, const at::Tensor& dw_weight, const at::Tensor& dw_scale, const at::Tensor& dw_shift,
    const at::Tensor& pw_weight, const at::Tensor& pw_shift) {
  auto x = input.contiguous();
  const int64_t batch = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3), plane = height * width;
  const int64_t outputs = pw_weight.size(0), strips = (plane + STRIP - 1) / STRIP;
  auto middle = at::empty({batch, channels, plane}, x.options());
  auto out = at::empty({batch, outputs, plane}, x.options());
  const float *in = x.const_data_ptr<float>(), *k = dw_weight.const_data_ptr<float>();
  const float *scale = dw_scale.const_data_ptr<float>(), *shift = dw_shift.const_data_ptr<float>();
  const float* last_shift = pw_shift.const_data_ptr<float>();
  float* mid = middle.data_ptr<float>();
  at::parallel_for(0, batch * channels, 1, [&](int64_t first, int64_t last) {
    std::vector<float> padded((height + 2) * (width + 2), 0.f);
    for (int64_t p = first; p < last; p++) {
      for (int64_t row = 0; row < height; row++)
        memcpy(&padded[(row + 1) * (width + 2) + 1], in + p * plane + row * width, width * sizeof(float));
      const int64_t c = p % channels;
      depthwise_plane(padded.data(), k + c * 9, mid + p * plane, height, width, scale[c], shift[c]);
    }
  });
  at::parallel_for(0, batch * strips, 1, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; task++) {
      const int64_t start = task % strips * STRIP, count = std::min(STRIP, plane - start);
      auto y = out[task / strips].narrow(1, start, count);
      at::mm_out(y, pw_weight, middle[task / strips].narrow(1, start, count));
      for (int64_t o = 0; o < outputs; o++) shift_relu6(y.data_ptr<float>() + o * plane, count, last_shift[o]);
    }
  });
  return out.view({batch, outputs, height, width});
}
"""

_ext = load_inline(
    "depthwise_separable_block_cpp",
    cpp_sources=SOURCE,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-trapping-math", "-fopenmp"],
)


def _fold(bn: nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    """Eval-mode batch norm as x * scale + shift; a few hundred numbers, so made anew in every call."""
    scale = bn.weight.detach() * torch.rsqrt(bn.running_var + bn.eps)
    return scale, bn.bias.detach() - bn.running_mean * scale


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(in_channels, in_channels, 3, padding=1, groups=in_channels, bias=False)
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.pointwise = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale, shift = _fold(self.bn2)
        pointwise = self.pointwise.weight.detach().flatten(1) * scale[:, None]
        return _ext.forward(x, self.depthwise.weight, *_fold(self.bn1), pointwise, shift)
