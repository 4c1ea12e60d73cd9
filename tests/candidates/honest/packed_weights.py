"""Packs weight and bias into one tensor whenever a state_dict is loaded, and computes from the pack.
problem: level1/040_layer_norm
expects: correct"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.register_load_state_dict_post_hook(lambda module, _: module._pack())
        self._pack()

    def _pack(self) -> None:
        self.packed = torch.stack((self.norm.weight.detach(), self.norm.bias.detach()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.packed
        return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self.norm.eps)
