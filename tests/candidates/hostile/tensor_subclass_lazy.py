"""Returns a subclass of Tensor that computes only when a checker touches it.
expects: incorrect, tamper"""

import torch
import torch.nn as nn


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        def computed(value):
            if not isinstance(value, Lazy):
                return value
            return torch.relu(value.as_subclass(torch.Tensor))

        return func(*(computed(value) for value in args), **(kwargs or {}))


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone().as_subclass(Lazy)
