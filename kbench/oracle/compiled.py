"""Importing this compiles a trivial module, which loads all that torch.compile loads on first use (3 s) before a fork.

One element: no parallel region may run here, since OpenMP does not survive a fork.
"""

import torch

with torch.no_grad():
    torch.compile(torch.nn.ReLU())(torch.ones(1))
torch._dynamo.reset()
