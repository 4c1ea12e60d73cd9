"""z = 3x3 convolution, then group norm, tanh and hardswish of z, plus z, logsumexp over the channels. As the public
problem 92 of level 2, with a group norm that is not the identity and values spread out enough that the logsumexp is
not nearly log(channels) everywhere."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "in_channels": 8, "out_channels": 64, "side": 128, "groups": 16},
    "medium": {"batch": 32, "in_channels": 8, "out_channels": 64, "side": 128, "groups": 16},
    "small": {"batch": 8, "in_channels": 8, "out_channels": 32, "side": 64, "groups": 8},
    "odd": {"batch": 7, "in_channels": 5, "out_channels": 35, "side": 61, "groups": 7},
}
INPUTS = ("default", "signed", "wide", "large_mean")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, 1, side - 2, side - 2); groups divides out."""

    def __init__(self, in_channels: int, out_channels: int, groups: int):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        nn.init.normal_(self.conv.weight, std=1.2 * (9 * in_channels) ** -0.5)
        nn.init.normal_(self.conv.bias, std=0.5)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.conv(x)
        y = F.hardswish(torch.tanh(self.norm(z))) + z
        return torch.logsumexp(y, dim=1, keepdim=True)


def get_inputs(
    *,
    batch: int = 128,
    in_channels: int = 8,
    out_channels: int = 64,
    side: int = 128,
    groups: int = 16,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, in_channels, side, side)
    if family == "default":  # uniform on [-1.5, 1.5)
        return [torch.rand(shape) * 3 - 1.5]
    x = torch.randn(shape)
    if family == "signed":
        return [x]
    if family == "wide":  # images from faint to loud
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 2 - 1.5)]
    return [x + 40]  # bright images: exp overflows unless the maximum is taken off first


def get_init_inputs(
    *, batch: int = 128, in_channels: int = 8, out_channels: int = 64, side: int = 128, groups: int = 16
) -> list:
    return [in_channels, out_channels, groups]
