"""SqueezeNet 1.0: fire modules (a 1x1 squeeze, then 1x1 and 3x3 side by side) and a convolution as the classifier. As the
public problem 18 of level 3, without its dropout, and with weights that keep the signal's scale without a norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 128, "side": 255, "squeeze": 16, "classes": 1000},
    "medium": {"batch": 32, "side": 255, "squeeze": 16, "classes": 1000},
    "small": {"batch": 8, "side": 63, "squeeze": 4, "classes": 100},
    "odd": {"batch": 7, "side": 71, "squeeze": 3, "classes": 97},
}
INPUTS = ("default", "sparse", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
FIRES = (1, 1, 2, 2, 3, 3, 4, 4)  # squeeze channels of a module, in units of the first one's
POOLED_AFTER = (2, 6)


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


class Fire(nn.Module):
    """(batch, in, h, w) -> (batch, 8 * squeeze, h, w)."""

    def __init__(self, in_channels: int, squeeze: int):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze, 1)
        self.one = nn.Conv2d(squeeze, 4 * squeeze, 1)
        self.three = nn.Conv2d(squeeze, 4 * squeeze, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.squeeze(x))
        return torch.relu(torch.cat([self.one(x), self.three(x)], dim=1))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes), none negative; side is odd, so that the first stride leaves no pixel."""

    def __init__(self, squeeze: int, classes: int):
        super().__init__()
        self.conv = nn.Conv2d(3, 6 * squeeze, 7, stride=2)
        self.fires = nn.ModuleList()
        channels = 6 * squeeze
        for units in FIRES:
            self.fires.append(Fire(channels, units * squeeze))
            channels = 8 * units * squeeze
        self.classifier = nn.Conv2d(channels, classes, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                _centred_(layer.weight, 1.6)
                nn.init.normal_(layer.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.conv(x)), 3, 2, ceil_mode=True)
        for i, fire in enumerate(self.fires):
            x = fire(x)
            if i in POOLED_AFTER:
                x = F.max_pool2d(x, 3, 2, ceil_mode=True)
        return torch.relu(self.classifier(x)).mean(dim=(2, 3))


def get_inputs(
    *, batch: int = 128, side: int = 255, squeeze: int = 16, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(batch, 3, side, side)
    if family == "sparse":  # one pixel of ten is lit
        return [3 * x * (torch.rand(batch, 1, side, side) < 0.1)]
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(*, batch: int = 128, side: int = 255, squeeze: int = 16, classes: int = 1000) -> list:
    return [squeeze, classes]
