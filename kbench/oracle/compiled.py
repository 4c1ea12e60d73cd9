"""Importing this loads what torch.compile loads on first use (3 s on a CPU), before a fork.

On a CPU by compiling a trivial module, one element of it: no parallel region may run here, since OpenMP does not survive a
fork. Nor does CUDA, so with a GPU the modules are only imported.
"""

import torch
import torch._inductor.compile_fx

if not torch.cuda.is_available():
    with torch.no_grad():
        torch.compile(torch.nn.ReLU())(torch.ones(1))
    torch._dynamo.reset()
