"""3 x 3 x 3 transposed convolution of boxes whose three sides differ, no bias, half as many channels out as in. The
public problem 70 says so in its name and has cubes; here an exchange of two axes is seen."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 48, "out_channels": 24, "depth": 48, "height": 96, "width": 128},
    "medium": {"batch": 1, "in_channels": 48, "out_channels": 24, "depth": 48, "height": 96, "width": 128},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 12, "depth": 12, "height": 16, "width": 24},
    "odd": {"batch": 3, "in_channels": 17, "out_channels": 11, "depth": 11, "height": 17, "width": 23},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, depth, height, width) -> (batch, out, depth + 2, height + 2, width + 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 4,
    in_channels: int = 48,
    out_channels: int = 24,
    depth: int = 48,
    height: int = 96,
    width: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, depth, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(
    *,
    batch: int = 4,
    in_channels: int = 48,
    out_channels: int = 24,
    depth: int = 48,
    height: int = 96,
    width: int = 128,
) -> list:
    return [in_channels, out_channels]
