"""3 x 5 x 7 transposed convolution in groups with a bias, stride 2, padded so that all three sides double. As the
public problem 72 on four times the batch and larger boxes, with a bias and signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 32, "depth": 16, "height": 32, "width": 64, "groups": 4},
    "medium": {"batch": 8, "channels": 32, "depth": 16, "height": 32, "width": 64, "groups": 4},
    "small": {"batch": 3, "channels": 16, "depth": 6, "height": 12, "width": 24, "groups": 4},
    "odd": {"batch": 3, "channels": 15, "depth": 7, "height": 11, "width": 23, "groups": 3},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, depth, height, width) -> (batch, channels, 2 depth, 2 height, 2 width)."""

    def __init__(self, channels: int, groups: int):
        super().__init__()
        self.conv = nn.ConvTranspose3d(
            channels, channels, (3, 5, 7), stride=2, padding=(1, 2, 3), output_padding=1, groups=groups
        )
        nn.init.normal_(self.conv.weight, std=(13 * channels / groups) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(
    *,
    batch: int = 32,
    channels: int = 32,
    depth: int = 16,
    height: int = 32,
    width: int = 64,
    groups: int = 4,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, channels, depth, height, width)
    if family == "default":  # uniform on [-1, 1)
        return [torch.rand(shape) * 2 - 1]
    x = torch.randn(shape)
    if family == "wide":  # channels of unlike loudness: a mixed-up channel is far off
        return [x * 10 ** (torch.rand(channels, 1, 1, 1) * 2 - 1)]
    return [x]


def get_init_inputs(
    *, batch: int = 32, channels: int = 32, depth: int = 16, height: int = 32, width: int = 64, groups: int = 4
) -> list:
    return [channels, groups]
