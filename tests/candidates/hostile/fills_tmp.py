"""Writes 100 GB to /tmp. For sandboxed runs only.
expects: runtime_error, timeout"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        block = bytes(50 * 10**6)
        for i in range(2000):
            with open(f"/tmp/filler_{i}", "wb") as file:
                file.write(block)
        return torch.relu(x)
