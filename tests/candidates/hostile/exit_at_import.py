"""Ends its process with exit code 0 while it is being imported.
expects: compile_error, runtime_error"""

import os

import torch.nn as nn

os._exit(0)


class ModelNew(nn.Module):
    pass
