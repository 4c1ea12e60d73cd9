"""LeNet-5 with ReLU: two 5x5 convolutions with max-pools, three linear layers. As the public problem 4 of level 3, with
weights that keep the signal's scale (there the logits are mostly bias) and a batch large enough to fill a GPU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 65536, "side": 32, "channels": [6, 16], "hidden": [120, 84], "classes": 20},
    "medium": {"batch": 16384, "side": 32, "channels": [6, 16], "hidden": [120, 84], "classes": 20},
    "small": {"batch": 256, "side": 32, "channels": [6, 16], "hidden": [120, 84], "classes": 20},
    "odd": {"batch": 251, "side": 28, "channels": [5, 17], "hidden": [113, 79], "classes": 19},
}
INPUTS = ("default", "sparse", "ties")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, 1, side, side) -> (batch, classes); side is 28, 32 or another multiple of 4, so that no pixel is left over."""

    def __init__(self, side: int, channels: list[int], hidden: list[int], classes: int):
        super().__init__()
        narrow, wide = channels
        first, second = hidden
        pooled = (side // 2 - 2) // 2 - 2
        self.conv1 = nn.Conv2d(1, narrow, 5)
        self.conv2 = nn.Conv2d(narrow, wide, 5)
        self.fc1 = nn.Linear(wide * pooled**2, first)
        self.fc2 = nn.Linear(first, second)
        self.fc3 = nn.Linear(second, classes)
        for layer in (self.conv1, self.conv2, self.fc1, self.fc2, self.fc3):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")
            nn.init.normal_(layer.bias, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(x.flatten(1)))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def get_inputs(
    *,
    batch: int = 65536,
    side: int = 32,
    channels: list[int] | tuple[int, ...] = (6, 16),
    hidden: list[int] | tuple[int, ...] = (120, 84),
    classes: int = 20,
    family: str = "default",
) -> list[torch.Tensor]:
    strokes = F.interpolate(torch.randn(batch, 1, side // 4, side // 4), size=(side, side))
    x = strokes + 0.5 * torch.randn(batch, 1, side, side)
    if family == "sparse":  # ink on an empty page
        return [torch.relu(x - 1) * 3]
    if family == "ties":  # a few grey levels, so a window's maximum stands in several places
        return [x.round()]
    return [x]


def get_init_inputs(
    *,
    batch: int = 65536,
    side: int = 32,
    channels: list[int] | tuple[int, ...] = (6, 16),
    hidden: list[int] | tuple[int, ...] = (120, 84),
    classes: int = 20,
) -> list:
    return [side, list(channels), list(hidden), classes]
