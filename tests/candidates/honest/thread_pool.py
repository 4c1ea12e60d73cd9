"""Splits the rows over a pool of threads that lives as long as the module, and waits for all of them.
expects: correct"""

from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn

PARTS = 2


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.pool = self.pool or ThreadPoolExecutor(PARTS)
        y = torch.empty_like(x)
        parts = zip(x.chunk(PARTS), y.chunk(PARTS))
        jobs = [self.pool.submit(torch.clamp_min, source, 0, out=target) for source, target in parts]
        for job in jobs:
            job.result()
        return y
