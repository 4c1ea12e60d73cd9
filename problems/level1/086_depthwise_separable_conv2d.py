"""3 x 3 depthwise convolution, then a pointwise one with a bias. As the public problem 86 with half the batch, a bias
where it is not swallowed by the next layer, and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 8, "in_channels": 64, "out_channels": 128, "side": 512},
    "medium": {"batch": 2, "in_channels": 64, "out_channels": 128, "side": 512},
    "small": {"batch": 3, "in_channels": 24, "out_channels": 48, "side": 72},
    "odd": {"batch": 3, "in_channels": 23, "out_channels": 43, "side": 71},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side, side)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(in_channels, in_channels, 3, padding=1, groups=in_channels, bias=False)
        self.pointwise = nn.Conv2d(in_channels, out_channels, 1)
        nn.init.normal_(self.pointwise.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pointwise(self.depthwise(x))


def get_inputs(
    *, batch: int = 8, in_channels: int = 64, out_channels: int = 128, side: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1) * 2 - 1)]
    if family == "large_mean":  # the padding stands out against the rest
        return [x + 3]
    return [x]


def get_init_inputs(*, batch: int = 8, in_channels: int = 64, out_channels: int = 128, side: int = 512) -> list:
    return [in_channels, out_channels]
