"""Returns two buffers of its own by turns.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.ring = []
        self.turn = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.ring or self.ring[0].shape != x.shape:
            self.ring = [torch.empty_like(x), torch.empty_like(x)]
        self.turn = 1 - self.turn
        return torch.clamp_min(x, 0, out=self.ring[self.turn])
