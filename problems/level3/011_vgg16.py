"""VGG-16: thirteen 3x3 convolutions in five groups with max-pools, three linear layers. As the public problem 11 of level
3, without its dropout, and with weights that keep the signal's scale through sixteen layers without a norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 32, "side": 224, "width": 64, "hidden": 4096, "classes": 1000},
    "medium": {"batch": 8, "side": 224, "width": 64, "hidden": 4096, "classes": 1000},
    "small": {"batch": 4, "side": 64, "width": 8, "hidden": 256, "classes": 100},
    "odd": {"batch": 3, "side": 67, "width": 7, "hidden": 251, "classes": 97},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}
GROUPS = ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3))  # channels in units of `width`, convolutions


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); a pool drops the last row and column of an odd side."""

    def __init__(self, side: int, width: int, hidden: int, classes: int):
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for units, depth in GROUPS:
            for _ in range(depth):
                layers += [nn.Conv2d(channels, units * width, 3, padding=1), nn.ReLU()]
                channels = units * width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.fc1 = nn.Linear(channels * (side // 32) ** 2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                _centred_(layer.weight, 1.5)
                nn.init.normal_(layer.bias, std=0.4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x).flatten(1)
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def get_inputs(
    *,
    batch: int = 32,
    side: int = 224,
    width: int = 64,
    hidden: int = 4096,
    classes: int = 1000,
    family: str = "default",
) -> list[torch.Tensor]:
    scene = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side))
    if family == "ties":  # areas of one colour: the same value everywhere in a pool's window
        return [2 * scene]
    x = scene + 0.5 * torch.randn(batch, 3, side, side)
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(
    *, batch: int = 32, side: int = 224, width: int = 64, hidden: int = 4096, classes: int = 1000
) -> list:
    return [side, width, hidden, classes]
