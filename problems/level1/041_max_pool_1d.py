"""Maximum over a dilated window of eight that moves by one. As the public problem 41 on half the batch and with
signed values: padding counts as minus infinity, and where all values are negative a padding of zero wins by mistake."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 32, "channels": 192, "length": 65536},
    "medium": {"batch": 8, "channels": 192, "length": 65536},
    "small": {"batch": 4, "channels": 24, "length": 8192},
    "odd": {"batch": 3, "channels": 29, "length": 8191},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, length) -> (batch, channels, length + 2 padding - dilation (kernel - 1))."""

    def __init__(self, kernel: int, stride: int, padding: int, dilation: int):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(
    *, batch: int = 32, channels: int = 192, length: int = 65536, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, channels, length)
    if family == "default":  # uniform on [-1, 1) about a level of each channel
        return [torch.rand(shape) * 2 - 1 + torch.randn(batch, channels, 1)]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # every maximum is negative
        return [x - 10]
    return [x]


def get_init_inputs(*, batch: int = 32, channels: int = 192, length: int = 65536) -> list:
    return [8, 1, 4, 3]
