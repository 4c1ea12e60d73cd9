"""3 x 3 x 3 transposed convolution of cubes with a bias, stride 1, as many channels out as in. As the public problem
61 with half the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 48, "out_channels": 48, "side": 64},
    "medium": {"batch": 1, "in_channels": 48, "out_channels": 48, "side": 64},
    "small": {"batch": 2, "in_channels": 16, "out_channels": 16, "side": 20},
    "odd": {"batch": 3, "in_channels": 13, "out_channels": 17, "side": 19},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side, side) -> (batch, out, side + 2, side + 2, side + 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 4, in_channels: int = 48, out_channels: int = 48, side: int = 64, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1, 1) * 2 - 1)]
    if family == "large_mean":  # faces, edges and corners, where taps are missing, stand out
        return [x + 3]
    return [x]


def get_init_inputs(*, batch: int = 4, in_channels: int = 48, out_channels: int = 48, side: int = 64) -> list:
    return [in_channels, out_channels]
