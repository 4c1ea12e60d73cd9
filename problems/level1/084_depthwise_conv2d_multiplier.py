"""3 x 3 depthwise convolution of wide images that makes two channels of each, no bias. The public problem 84 is its
problem 82 on another image; here output channel c reads input channel c // 2."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 64, "height": 256, "width": 512},
    "medium": {"batch": 8, "channels": 64, "height": 256, "width": 512},
    "small": {"batch": 3, "channels": 12, "height": 80, "width": 112},
    "odd": {"batch": 3, "channels": 11, "height": 79, "width": 109},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, height, width) -> (batch, 2 channels, height - 2, width - 2)."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, 3, groups=channels, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 32, channels: int = 64, height: int = 256, width: int = 512, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, channels, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(channels, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 32, channels: int = 64, height: int = 256, width: int = 512) -> list:
    return [channels]
