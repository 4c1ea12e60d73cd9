"""Registers buffers of its own beside the reference's parameters.
problem: level1/040_layer_norm
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.register_buffer("places", torch.arange(features))
        self.norm = nn.LayerNorm(features)
        self.register_buffer("inverse_length", torch.tensor(1.0 / features), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x.index_select(-1, self.places))
