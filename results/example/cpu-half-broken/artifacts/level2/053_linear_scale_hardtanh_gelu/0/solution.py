"""expects: compile_error (a semicolon is missing)"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

at::Tensor forward(const at::Tensor& x) {
  auto y = at::empty_like(x)
  return y;
}
"""

_ext = load_inline("relu_compile_error", cpp_sources=SOURCE, functions=["forward"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _ext.forward(x)
