"""EfficientNet's MBConv block: 1x1 expand, strided 5x5 depthwise, squeeze-and-excitation, 1x1 project, in eval mode. As
the public problem 21 of level 3, with the paper's excitation and SiLU (left out there), so that a global pool cuts it in
two."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "in_channels": 112, "out_channels": 192, "side": 112, "expansion": 6, "stride": 2},
    "medium": {"batch": 8, "in_channels": 112, "out_channels": 192, "side": 112, "expansion": 6, "stride": 2},
    "small": {"batch": 4, "in_channels": 16, "out_channels": 24, "side": 40, "expansion": 6, "stride": 2},
    "odd": {"batch": 3, "in_channels": 19, "out_channels": 19, "side": 37, "expansion": 5, "stride": 1},
}
INPUTS = ("default", "large_mean", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _batch_norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, std=0.5)
    nn.init.normal_(norm.running_mean, std=0.5)
    nn.init.uniform_(norm.running_var, 0.2, 1.0)
    return norm


class Excitation(nn.Module):
    """(batch, channels, h, w) -> the same: each channel times a gate that all channels' means decide."""

    def __init__(self, channels: int, squeezed: int):
        super().__init__()
        self.down = nn.Conv2d(channels, squeezed, 1)
        self.up = nn.Conv2d(squeezed, channels, 1)
        nn.init.normal_(self.down.weight, std=3 * channels**-0.5)
        nn.init.normal_(self.up.weight, std=1.5 * squeezed**-0.5)
        nn.init.normal_(self.down.bias)
        nn.init.normal_(self.up.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = self.up(F.silu(self.down(x.mean(dim=(2, 3), keepdim=True))))
        return x * torch.sigmoid(gate)


class Model(nn.Module):
    """(batch, in, side, side) -> (batch, out, side', side'), side' = ceil(side / stride); a residual where they are equal."""

    def __init__(self, in_channels: int, out_channels: int, expansion: int, stride: int):
        super().__init__()
        mid = in_channels * expansion
        self.residual = stride == 1 and in_channels == out_channels
        self.expand = nn.Conv2d(in_channels, mid, 1, bias=False)
        self.bn1 = _batch_norm(mid)
        self.depthwise = nn.Conv2d(mid, mid, 5, stride, 2, groups=mid, bias=False)
        self.bn2 = _batch_norm(mid)
        self.excite = Excitation(mid, in_channels // 4)
        self.project = nn.Conv2d(mid, out_channels, 1, bias=False)
        self.bn3 = _batch_norm(out_channels)
        for conv in (self.expand, self.depthwise, self.project):
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.bn1(self.expand(x)))
        y = F.silu(self.bn2(self.depthwise(y)))
        y = self.bn3(self.project(self.excite(y)))
        return x + y if self.residual else y


def get_inputs(
    *,
    batch: int = 32,
    in_channels: int = 112,
    out_channels: int = 192,
    side: int = 112,
    expansion: int = 6,
    stride: int = 2,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, in_channels, side, side)
    means = torch.randn(batch, in_channels, 1, 1)  # or the pooled values of all images would be alike
    if family == "large_mean":
        return [x + 3 * means]
    if family == "wide":  # images over three decades
        return [(x + means) * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 2)]
    return [x + 0.5 * means]


def get_init_inputs(
    *,
    batch: int = 32,
    in_channels: int = 112,
    out_channels: int = 192,
    side: int = 112,
    expansion: int = 6,
    stride: int = 2,
) -> list:
    return [in_channels, out_channels, expansion, stride]
