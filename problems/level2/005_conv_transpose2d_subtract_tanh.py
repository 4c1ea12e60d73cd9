"""4x4 transposed convolution with stride 2 and one more row and column than twice the input, minus a bias for each
channel, tanh. As the public problem 5 of level 2, with signed values of a scale that bends tanh, and without the
convolution's own bias (the subtracted one is enough)."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 64, "in_channels": 64, "out_channels": 64, "side": 96},
    "medium": {"batch": 16, "in_channels": 64, "out_channels": 64, "side": 96},
    "small": {"batch": 8, "in_channels": 16, "out_channels": 16, "side": 32},
    "odd": {"batch": 3, "in_channels": 11, "out_channels": 19, "side": 37},
}
INPUTS = ("default", "signed", "wide", "sparse")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, 2 * side + 1, 2 * side + 1)."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 4, stride=2, padding=1, output_padding=1, bias=False)
        nn.init.normal_(self.conv.weight, std=(4 * in_channels) ** -0.5)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.conv(x) - self.bias)


def get_inputs(
    *, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 96, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-2, 2)
        return [torch.rand(shape) * 4 - 2]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # magnitudes over six decades
        return [x * 10 ** (torch.rand(shape) * 6 - 5)]
    return [torch.relu(x - 1) * 2]  # what a ReLU leaves of it, about one value in six


def get_init_inputs(*, batch: int = 64, in_channels: int = 64, out_channels: int = 64, side: int = 96) -> list:
    return [in_channels, out_channels]
