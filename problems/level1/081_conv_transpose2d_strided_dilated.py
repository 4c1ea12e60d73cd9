"""3 x 3 transposed convolution with stride 3, dilation 2, padding 1 and a bias: every output comes of exactly one
tap. In the public problem 81 the stride is 5, which three taps cannot fill: 16 outputs in 25 are zero."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 32, "out_channels": 64, "height": 64, "width": 128},
    "medium": {"batch": 16, "in_channels": 32, "out_channels": 64, "height": 64, "width": 128},
    "small": {"batch": 6, "in_channels": 16, "out_channels": 32, "height": 20, "width": 36},
    "odd": {"batch": 5, "in_channels": 17, "out_channels": 29, "height": 19, "width": 37},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, 3 height, 3 width)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=3, padding=1, dilation=2)
        nn.init.normal_(self.conv.weight, std=in_channels**-0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 64,
    in_channels: int = 32,
    out_channels: int = 64,
    height: int = 64,
    width: int = 128,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(in_channels, 1, 1) * 2 - 1)]
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(
    *, batch: int = 64, in_channels: int = 32, out_channels: int = 64, height: int = 64, width: int = 128
) -> list:
    return [in_channels, out_channels]
