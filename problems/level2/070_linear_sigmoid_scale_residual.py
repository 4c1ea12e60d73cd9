"""z = linear(x), then scale * sigmoid(z) + z. As the public problem 70 of level 2, with signed values and a wide,
shallow product, so that the elementwise tail is worth fusing."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 8192},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 8192},
    "small": {"rows": 1024, "in_features": 64, "out_features": 1024},
    "odd": {"rows": 1021, "in_features": 59, "out_features": 1009},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(rows, in) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.linear(x)
        return torch.sigmoid(z) * self.scale + z


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 8192, family: str = "default"
) -> list[torch.Tensor]:
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(rows, in_features) * 4 - 2]
    x = torch.randn(rows, in_features)
    return [x * 10 ** (torch.rand(rows, in_features) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 8192) -> list:
    return [in_features, out_features, 2.0]
