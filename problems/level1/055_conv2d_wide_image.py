"""3 x 3 convolution with a bias, stride 1, no padding, on images twice as wide as high. As the public problem 55 with
half the batch, a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 4, "in_channels": 64, "out_channels": 128, "height": 512, "width": 1024},
    "medium": {"batch": 1, "in_channels": 64, "out_channels": 128, "height": 512, "width": 1024},
    "small": {"batch": 2, "in_channels": 32, "out_channels": 48, "height": 64, "width": 128},
    "odd": {"batch": 3, "in_channels": 29, "out_channels": 43, "height": 53, "width": 127},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, height, width) -> (batch, out, height - 2, width - 2)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 4,
    in_channels: int = 64,
    out_channels: int = 128,
    height: int = 512,
    width: int = 1024,
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
    *, batch: int = 4, in_channels: int = 64, out_channels: int = 128, height: int = 512, width: int = 1024
) -> list:
    return [in_channels, out_channels]
