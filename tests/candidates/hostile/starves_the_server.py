"""Takes the sandbox's first process its descriptors, so that what fails next might look like a fault of the referee's.
expects: compile_error, tamper"""

import resource

import torch
import torch.nn as nn

resource.prlimit(1, resource.RLIMIT_NOFILE, (8, 8))


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x
