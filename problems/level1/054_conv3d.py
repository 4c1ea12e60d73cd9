"""3 x 3 x 3 convolution of cubes, stride 1, no padding, no bias: three channels in, so little is reused. As the
public problem 54 with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "in_channels": 3, "out_channels": 64, "side": 64},
    "medium": {"batch": 4, "in_channels": 3, "out_channels": 64, "side": 64},
    "small": {"batch": 3, "in_channels": 3, "out_channels": 48, "side": 24},
    "odd": {"batch": 3, "in_channels": 5, "out_channels": 41, "side": 23},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side, side) -> (batch, out, side - 2, side - 2, side - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 16, in_channels: int = 3, out_channels: int = 64, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 16, in_channels: int = 3, out_channels: int = 64, side: int = 64) -> list:
    return [in_channels, out_channels]
