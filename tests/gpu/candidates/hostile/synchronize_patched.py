"""Makes every way of waiting for the device a no-op.
expects: timing_invalid, incorrect"""

import torch
import torch.nn as nn


def _nothing(*args: object, **kwargs: object) -> None:
    return None


torch.cuda.synchronize = _nothing
torch.cuda.Stream.synchronize = _nothing


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            y = torch.relu(x)
        return y
