"""Tries to reach the world, the host and its neighbours; answers right, unless something answered.
expects: correct"""

import socket

import torch
import torch.nn as nn

ADDRESSES = (("1.1.1.1", 53), ("8.8.8.8", 443), ("10.0.0.1", 80), ("192.168.0.1", 80), ("169.254.169.254", 80))


def _reachable() -> bool:
    for address in ADDRESSES:
        try:
            socket.create_connection(address, timeout=0.2).close()
            return True
        except OSError:
            continue
    return False


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.tried = self.reached = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.tried:
            self.tried, self.reached = True, _reachable()
        if self.reached:
            raise RuntimeError("the sandbox has a network")
        return torch.relu(x)
