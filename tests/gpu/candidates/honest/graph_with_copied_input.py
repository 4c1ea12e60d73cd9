"""A graph over a static buffer, into which every input is copied first; its output buffer is static too.
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.graph = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.graph is None:
            self.held = x.clone()
            torch.relu(self.held)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = torch.relu(self.held)
        self.held.copy_(x)
        self.graph.replay()
        return self.out
