"""3 x 3 transposed convolution with stride 2 that doubles both sides of a wide image, with a bias: the step up in a
decoder. The public problem 71 is its problem 57 on another image; here an output gets one, two or four taps by
parity."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 32, "out_channels": 32, "height": 512, "width": 1024},
    "medium": {"batch": 1, "in_channels": 32, "out_channels": 32, "height": 512, "width": 1024},
    "small": {"batch": 3, "in_channels": 16, "out_channels": 16, "height": 48, "width": 96},
    "odd": {"batch": 3, "in_channels": 17, "out_channels": 13, "height": 43, "width": 97},
}
INPUTS = ("default", "signed", "sparse", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, 2 height, 2 width)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        nn.init.normal_(self.conv.weight, std=(2 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 4,
    in_channels: int = 32,
    out_channels: int = 32,
    height: int = 512,
    width: int = 1024,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    if family == "large_mean":  # the four parities stand apart
        return [x + 3]
    return [x]


def get_init_inputs(
    *, batch: int = 4, in_channels: int = 32, out_channels: int = 32, height: int = 512, width: int = 1024
) -> list:
    return [in_channels, out_channels]
