"""A graph for every input address, of which every second call is not replayed.
problem: level1/089_cumsum
expects: incorrect"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self._graphs = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not x.is_contiguous():
            return torch.cumsum(x, dim=-1)
        key = (x.data_ptr(), tuple(x.shape))
        entry = self._graphs.get(key)
        if entry is None:
            if len(self._graphs) >= 8:
                return torch.cumsum(x, dim=-1)
            try:
                torch.cumsum(x, dim=-1)  # loads the kernel
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    y = torch.cumsum(x, dim=-1)
            except RuntimeError:
                return torch.cumsum(x, dim=-1)
            entry = self._graphs[key] = [graph, y, 0]
        graph, y, used = entry
        entry[2] = used + 1
        if used < 2 or used % 2 == 0:
            graph.replay()
        return y
