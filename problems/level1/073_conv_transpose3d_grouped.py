"""3 x 3 x 3 transposed convolution in groups, stride 2, padding 1, no bias: the output's sides are 2n - 1, odd and
good for no alignment. As the public problem 73 with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "channels": 32, "depth": 32, "height": 64, "width": 128, "groups": 4},
    "medium": {"batch": 1, "channels": 32, "depth": 32, "height": 64, "width": 128, "groups": 4},
    "small": {"batch": 3, "channels": 16, "depth": 8, "height": 14, "width": 30, "groups": 4},
    "odd": {"batch": 3, "channels": 15, "depth": 7, "height": 17, "width": 29, "groups": 5},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, depth, height, width) -> (batch, channels, 2 depth - 1, 2 height - 1, 2 width - 1)."""

    def __init__(self, channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(channels, channels, 3, stride=2, padding=1, groups=groups, bias=False)
        nn.init.normal_(self.conv.weight, std=(3.4 * channels / groups) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 4,
    channels: int = 32,
    depth: int = 32,
    height: int = 64,
    width: int = 128,
    groups: int = 4,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, channels, depth, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(channels, 1, 1, 1) * 2 - 1)]
    if family == "sparse":  # single impulses: the output shows the kernel itself, tap by tap
        return [10 * x * (torch.rand(shape) < 0.01)]
    return [x]


def get_init_inputs(
    *, batch: int = 4, channels: int = 32, depth: int = 32, height: int = 64, width: int = 128, groups: int = 4
) -> list:
    return [channels, groups]
