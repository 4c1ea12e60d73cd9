"""ConvNeXt V2 block: 7x7 depthwise convolution, layer norm over channels, 1x1 up, GELU, global response norm, 1x1 down,
residual. No public counterpart; the response norm's weights, zero when untrained, are not, and the layer norm's eps is 1e-5:
1e-6 is below what fp32 resolves, so that no check could tell whether it is there."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 64, "channels": 192, "side": 56},
    "medium": {"batch": 16, "channels": 192, "side": 56},
    "small": {"batch": 4, "channels": 32, "side": 32},
    "odd": {"batch": 3, "channels": 37, "side": 29},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class ResponseNorm(nn.Module):
    """(batch, h, w, channels) -> the same: a channel gains by its share of the energy over all places of its image."""

    def __init__(self, channels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels))
        self.bias = nn.Parameter(0.5 * torch.randn(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        energy = x.square().sum(dim=(1, 2), keepdim=True).sqrt()
        share = energy / (energy.mean(dim=-1, keepdim=True) + 1e-6)
        return x + self.weight * x * share + self.bias


class Model(nn.Module):
    """(batch, channels, side, side) -> the same."""

    def __init__(self, channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.up = nn.Linear(channels, 4 * channels)
        self.response = ResponseNorm(4 * channels)
        self.down = nn.Linear(4 * channels, channels)
        nn.init.normal_(self.depthwise.weight, std=1 / 7)
        nn.init.normal_(self.depthwise.bias, std=0.3)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        for layer in (self.up, self.down):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.normal_(layer.bias, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.down(self.response(F.gelu(self.up(y))))
        return x + y.permute(0, 3, 1, 2)


def get_inputs(*, batch: int = 64, channels: int = 192, side: int = 56, family: str = "default") -> list[torch.Tensor]:
    x = torch.randn(batch, channels, side, side) * (torch.rand(batch, channels, 1, 1) * 1.5 + 0.25)
    if family == "large_mean":  # channels of an image's own mean
        return [x + 3 * torch.randn(batch, channels, 1, 1)]
    if family == "wide":  # places over three decades, which the layer norm brings together
        return [x * 10 ** (torch.rand(batch, 1, side, side) * 3 - 2)]
    return [x]


def get_init_inputs(*, batch: int = 64, channels: int = 192, side: int = 56) -> list:
    return [channels]
