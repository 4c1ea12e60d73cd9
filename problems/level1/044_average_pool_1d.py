"""Mean over a window of eight that moves by one; the padding counts as zeros and is divided by eight all the same. As
the public problem 44 with signed values, as an average of uniform [0, 1) ones is 1/2 to within a tenth or so."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "channels": 128, "length": 65536},
    "medium": {"batch": 16, "channels": 128, "length": 65536},
    "small": {"batch": 4, "channels": 48, "length": 8192},
    "odd": {"batch": 3, "channels": 53, "length": 8191},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, channels, length) -> (batch, channels, length + 1) for the kernel 8, padding 4."""

    def __init__(self, kernel: int, stride: int, padding: int):
        super().__init__()
        self.pool = nn.AvgPool1d(kernel, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs(
    *, batch: int = 64, channels: int = 128, length: int = 65536, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, channels, length)
    if family == "default":  # uniform on [-1, 1), and a level for each channel
        return [torch.rand(shape) * 2 - 1 + torch.randn(channels, 1)]
    x = torch.randn(shape)
    if family == "wide":
        return [x * 10 ** (torch.rand(shape) * 4 - 2)]
    if family == "large_mean":  # the padded ends stand out
        return [x + 10]
    return [x]


def get_init_inputs(*, batch: int = 64, channels: int = 128, length: int = 65536) -> list:
    return [8, 1, 4]
