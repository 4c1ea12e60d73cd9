"""Asks the L2 to keep its lines between calls; the referee's inputs are cold all the same.
expects: correct"""

import ctypes

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.asked = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.asked:
            driver = ctypes.CDLL("libcuda.so.1")
            driver.cuCtxSetLimit(6, ctypes.c_size_t(1 << 30))
            self.asked = True
        return torch.relu(x)
