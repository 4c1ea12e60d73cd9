"""Maximum over dilated windows of 3 x 3 x 3 that move by two: neighbouring outputs share nothing, those three apart
do. As the public problem 43 on half the batch and with signed values."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 8, "channels": 32, "side": 128},
    "medium": {"batch": 2, "channels": 32, "side": 128},
    "small": {"batch": 2, "channels": 16, "side": 40},
    "odd": {"batch": 3, "channels": 13, "side": 37},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, side, side, side) -> (batch, channels, side', side', side'), side' = (side - 5) // 2 + 1."""

    def __init__(self, kernel: int, stride: int, padding: int, dilation: int):
        super().__init__()
        self.pool = nn.MaxPool3d(kernel, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(*, batch: int = 8, channels: int = 32, side: int = 128, family: str = "default") -> list[torch.Tensor]:
    shape = (batch, channels, side, side, side)
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # every maximum is negative, and a padding of zero would win
        return [x - 10]
    return [torch.rand(shape) * 2 - 1 + torch.randn(batch, channels, 1, 1, 1)]


def get_init_inputs(*, batch: int = 8, channels: int = 32, side: int = 128) -> list:
    return [3, 2, 1, 3]
