"""Residual block of a diffusion U-Net: group norm, SiLU, 3x3 convolution, the time embedding added, group norm, SiLU, 3x3
convolution, 1x1 shortcut. No public counterpart."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 16, "in_channels": 320, "out_channels": 640, "side": 64, "embedding": 1280, "groups": 32},
    "medium": {"batch": 4, "in_channels": 320, "out_channels": 640, "side": 64, "embedding": 1280, "groups": 32},
    "small": {"batch": 2, "in_channels": 32, "out_channels": 48, "side": 32, "embedding": 96, "groups": 8},
    "odd": {"batch": 3, "in_channels": 35, "out_channels": 49, "side": 27, "embedding": 89, "groups": 7},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _group_norm(groups: int, channels: int) -> nn.GroupNorm:
    norm = nn.GroupNorm(groups, channels)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    return norm


class Model(nn.Module):
    """x (batch, in, side, side), time (batch, embedding) -> (batch, out, side, side); groups divides in and out."""

    def __init__(self, in_channels: int, out_channels: int, embedding: int, groups: int):
        super().__init__()
        self.norm1 = _group_norm(groups, in_channels)
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.embed = nn.Linear(embedding, out_channels)
        self.norm2 = _group_norm(groups, out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.shortcut = nn.Conv2d(in_channels, out_channels, 1)
        for layer in (self.conv1, self.embed, self.conv2):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.normal_(layer.bias, std=0.5)
        nn.init.kaiming_normal_(self.shortcut.weight, nonlinearity="linear")
        nn.init.normal_(self.shortcut.bias, std=0.5)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.conv1(F.silu(self.norm1(x)))
        y = y + self.embed(F.silu(time))[:, :, None, None]
        y = self.conv2(F.silu(self.norm2(y)))
        return self.shortcut(x) + y


def get_inputs(
    *,
    batch: int = 16,
    in_channels: int = 320,
    out_channels: int = 640,
    side: int = 64,
    embedding: int = 1280,
    groups: int = 32,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, in_channels, side, side)
    time = torch.randn(batch, embedding)
    if family == "large_mean":  # an image's channels each have a mean of their own
        return [x + 3 * torch.randn(batch, in_channels, 1, 1), time]
    if family == "wide":  # images over three decades, which the norms bring together and the shortcut does not
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 2), time]
    return [x, time]


def get_init_inputs(
    *,
    batch: int = 16,
    in_channels: int = 320,
    out_channels: int = 640,
    side: int = 64,
    embedding: int = 1280,
    groups: int = 32,
) -> list:
    return [in_channels, out_channels, embedding, groups]
