"""Returns an unwritten buffer; a thread fills it 50 ms later.
expects: timing_invalid, incorrect"""

import threading
import time

import torch
import torch.nn as nn


def _fill(x: torch.Tensor, y: torch.Tensor) -> None:
    time.sleep(0.05)
    torch.clamp_min(x, 0, out=y)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        threading.Thread(target=_fill, args=(x, y), daemon=True).start()
        return y
