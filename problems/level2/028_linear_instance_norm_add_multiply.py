"""y1 = instance norm of linear(x), each row an instance of one channel; the answer is (y1 + y) * y with a second
input y. As the public problem 28 of level 2, where the norm's channel count does not fit what it is given; here it is
one channel, with a weight and a bias that are not the identity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"rows": 32768, "in_features": 512, "out_features": 4096},
    "medium": {"rows": 8192, "in_features": 512, "out_features": 4096},
    "small": {"rows": 1024, "in_features": 96, "out_features": 1024},
    "odd": {"rows": 1013, "in_features": 89, "out_features": 997},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """x (rows, in), y (rows, out) -> (rows, out)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.normal_(self.linear.weight, mean=0.5 / in_features, std=in_features**-0.5)
        nn.init.normal_(self.linear.bias, std=0.5)
        self.norm = nn.InstanceNorm1d(1, affine=True)
        nn.init.constant_(self.norm.weight, 1.3)
        nn.init.constant_(self.norm.bias, 0.4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = self.norm(self.linear(x).unsqueeze(1)).squeeze(1)
        return (z + y) * y


def get_inputs(
    *, rows: int = 32768, in_features: int = 512, out_features: int = 4096, family: str = "default"
) -> list[torch.Tensor]:
    shape = (rows, in_features)
    y = torch.randn(rows, out_features)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5, y]
    x = torch.randn(shape)
    if family == "signed":
        return [x, y]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5), y]
    return [x * 0.3 + 5, y]  # the features of a row share a mean far above their spread


def get_init_inputs(*, rows: int = 32768, in_features: int = 512, out_features: int = 4096) -> list:
    return [in_features, out_features]
