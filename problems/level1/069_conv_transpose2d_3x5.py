"""3 x 5 transposed convolution of images twice as wide as high, with a bias, twice as many channels out as in. As the
public problem 69 with half the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 64, "out_channels": 128, "height": 128, "width": 256},
    "medium": {"batch": 8, "in_channels": 64, "out_channels": 128, "height": 128, "width": 256},
    "small": {"batch": 4, "in_channels": 16, "out_channels": 32, "height": 40, "width": 80},
    "odd": {"batch": 3, "in_channels": 17, "out_channels": 31, "height": 41, "width": 83},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height + 2, width + 4)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, (3, 5))
        nn.init.normal_(self.conv.weight, std=(15 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 64,
    out_channels: int = 128,
    height: int = 128,
    width: int = 256,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(
    *, batch: int = 32, in_channels: int = 64, out_channels: int = 128, height: int = 128, width: int = 256
) -> list:
    return [in_channels, out_channels]
