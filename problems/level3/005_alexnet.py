"""AlexNet: five convolutions, three overlapping max-pools, three linear layers. As the public problem 5 of level 3,
without its dropout, and with weights that keep the signal's scale through eight layers without a norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 512, "side": 224, "width": 32, "hidden": 4096, "classes": 1000},
    "medium": {"batch": 128, "side": 224, "width": 32, "hidden": 4096, "classes": 1000},
    "small": {"batch": 16, "side": 64, "width": 8, "hidden": 256, "classes": 100},
    "odd": {"batch": 13, "side": 65, "width": 7, "hidden": 251, "classes": 97},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


def _pooled(side: int) -> int:
    """Side of the last feature map: the first convolution, then three pools of width 3 and stride 2."""
    side = (side - 7) // 4 + 1
    for _ in range(3):
        side = (side - 3) // 2 + 1
    return side


def _centred_(weight: torch.Tensor, gain: float) -> None:
    """Rows of mean zero: what all images have in common behind a ReLU is not passed on, and they stay apart."""
    nn.init.normal_(weight, std=gain * weight[0].numel() ** -0.5)
    with torch.no_grad():
        weight.sub_(weight.mean(dim=tuple(range(1, weight.ndim)), keepdim=True))


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes); convolutions of 3, 8, 12, 12 and 8 times `width` channels."""

    def __init__(self, side: int, width: int, hidden: int, classes: int):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3 * width, 11, stride=4, padding=2)
        self.conv2 = nn.Conv2d(3 * width, 8 * width, 5, padding=2)
        self.conv3 = nn.Conv2d(8 * width, 12 * width, 3, padding=1)
        self.conv4 = nn.Conv2d(12 * width, 12 * width, 3, padding=1)
        self.conv5 = nn.Conv2d(12 * width, 8 * width, 3, padding=1)
        self.fc1 = nn.Linear(8 * width * _pooled(side) ** 2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)
        for layer in self.children():
            _centred_(layer.weight, 1.5)
            nn.init.normal_(layer.bias, std=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.relu(self.conv1(x)), 3, 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 3, 2)
        x = torch.relu(self.conv3(x))
        x = torch.relu(self.conv4(x))
        x = F.max_pool2d(torch.relu(self.conv5(x)), 3, 2)
        x = torch.relu(self.fc1(x.flatten(1)))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def get_inputs(
    *,
    batch: int = 512,
    side: int = 224,
    width: int = 32,
    hidden: int = 4096,
    classes: int = 1000,
    family: str = "default",
) -> list[torch.Tensor]:
    shape = (batch, 3, side, side)
    if family == "signed":  # white noise, of another contrast in each image
        return [torch.randn(shape) * (torch.rand(batch, 1, 1, 1) + 0.5)]
    x = F.interpolate(torch.randn(batch, 3, 8, 8), size=(side, side)) + 0.5 * torch.randn(shape)
    if family == "wide":  # exposures over three decades
        return [x * 10 ** (torch.rand(batch, 1, 1, 1) * 3 - 1)]
    return [x]


def get_init_inputs(
    *, batch: int = 512, side: int = 224, width: int = 32, hidden: int = 4096, classes: int = 1000
) -> list:
    return [side, width, hidden, classes]
