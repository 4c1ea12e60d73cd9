"""3 x 3 depthwise convolution, stride 1, no padding, no bias: nine products for each value read. As the public
problem 82 on twice the batch, with signed values; in one family the channels differ in magnitude."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 64, "side": 512},
    "medium": {"batch": 8, "channels": 64, "side": 512},
    "small": {"batch": 4, "channels": 24, "side": 112},
    "odd": {"batch": 3, "channels": 29, "side": 109},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side - 2, side - 2)."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, groups=channels, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(*, batch: int = 32, channels: int = 64, side: int = 512, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(channels, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 32, channels: int = 64, side: int = 512) -> list:
    return [channels]
