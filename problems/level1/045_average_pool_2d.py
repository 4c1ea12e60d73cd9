"""Mean over tiles of 11 x 11 that do not overlap: nearly all reading. As the public problem 45 on a quarter of its 17
GB; the rows and columns of an image differ in brightness, and so do its tiles: the mean of 121 uniform [0, 1) values
is about 1/2 everywhere."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 16, "channels": 64, "side": 1023},
    "medium": {"batch": 4, "channels": 64, "side": 1023},
    "small": {"batch": 4, "channels": 12, "side": 264},
    "odd": {"batch": 3, "channels": 11, "side": 331},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side) -> (batch, channels, side // kernel, side // kernel)."""

    def __init__(self, kernel: int):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(*, batch: int = 16, channels: int = 64, side: int = 1023, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side)
    if family == "default":  # uniform on [-1, 1) about the brightness of the row and of the column
        brightness = torch.randn(batch, channels, side, 1) + torch.randn(batch, channels, 1, side)
        return [torch.rand(shape) * 2 - 1 + brightness]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":
        return [x + 4 * torch.randn(batch, channels, 1, 1)]
    return [x]


def get_init_inputs(*, batch: int = 16, channels: int = 64, side: int = 1023) -> list:
    return [11]
