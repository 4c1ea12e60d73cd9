"""3 x 5 transposed convolution with unlike strides, paddings and dilations on the two axes, in groups, with a bias.
In the public problem 75 the dilation along the height is 2 like the stride, so every other row is zero; here it is 3."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "in_channels": 32, "out_channels": 64, "height": 128, "width": 256, "groups": 4},
    "medium": {"batch": 8, "in_channels": 32, "out_channels": 64, "height": 128, "width": 256, "groups": 4},
    "small": {"batch": 4, "in_channels": 16, "out_channels": 32, "height": 28, "width": 56, "groups": 4},
    "odd": {"batch": 3, "in_channels": 15, "out_channels": 35, "height": 29, "width": 53, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, 2 height + 3, 3 width - 2)."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(
            in_channels, out_channels, (3, 5), stride=(2, 3), padding=(1, 2), dilation=(3, 1), groups=groups
        )
        nn.init.normal_(self.conv.weight, std=(2.5 * in_channels / groups) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    height: int = 128,
    width: int = 256,
    groups: int = 4,
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
    *,
    batch: int = 32,
    in_channels: int = 32,
    out_channels: int = 64,
    height: int = 128,
    width: int = 256,
    groups: int = 4,
) -> list:
    return [in_channels, out_channels, groups]
