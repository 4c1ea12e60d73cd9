"""A thread launches the kernels after forward has returned, on a stream of its own.
problem: level2/030_linear_group_norm_hardtanh
expects: incorrect, timing_invalid"""

import queue
import threading

import torch
import torch.nn as nn
import torch.nn.functional as F


def _serve(jobs):
    stream = None
    with torch.no_grad():
        while True:
            x, weight, bias, groups, gamma, beta, eps, low, high, y = jobs.get()
            if stream is None:
                stream = torch.cuda.Stream(device=x.device, priority=0)
            with torch.cuda.device(x.device), torch.cuda.stream(stream):
                h = F.group_norm(F.linear(x, weight, bias), groups, gamma, beta, eps)
                torch.clamp(h, low, high, out=y)
            del x, y, h


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int, groups: int, low: float, high: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        self.low = low
        self.high = high
        self._jobs = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._jobs,), daemon=True).start()
        y = torch.empty(x.shape[0], self.linear.out_features, dtype=x.dtype, device=x.device)
        linear, norm = self.linear, self.norm
        self._jobs.put(
            (x, linear.weight.detach(), linear.bias.detach(), norm.num_groups, norm.weight.detach(), norm.bias.detach(),
             norm.eps, self.low, self.high, y)
        )
        return y
