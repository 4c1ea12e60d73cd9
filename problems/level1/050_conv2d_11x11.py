"""11 x 11 convolution with stride 4, padding 2 and a bias: AlexNet's first layer. As the public problem 50 with twice
the batch and values on both sides of zero; images of a large mean show the padding at the border."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 512, "in_channels": 3, "out_channels": 96, "side": 224},
    "medium": {"batch": 128, "in_channels": 3, "out_channels": 96, "side": 224},
    "small": {"batch": 3, "in_channels": 3, "out_channels": 64, "side": 192},
    "odd": {"batch": 3, "in_channels": 3, "out_channels": 61, "side": 197},
}
INPUTS = ("default", "signed", "large_mean", "spiky")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side', side'), side' = (side - 7) // 4 + 1."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 11, stride=4, padding=2)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *, batch: int = 512, in_channels: int = 3, out_channels: int = 96, side: int = 224, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "large_mean":  # the padding stands out against the rest
        return [x + 3]
    if family == "spiky":  # one outlier in a thousand
        return [torch.where(torch.rand(shape) < 0.001, 100 * x, x)]
    return [x]


def get_init_inputs(*, batch: int = 512, in_channels: int = 3, out_channels: int = 96, side: int = 224) -> list:
    return [in_channels, out_channels]
