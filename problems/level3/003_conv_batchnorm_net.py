"""Two conv-batchnorm-ReLU stages, global average pool, linear; batch norm in TRAIN mode, so the batch statistics
are used and the running statistics are part of the answer. No public counterpart of the same number."""

import torch
import torch.nn as nn

SHAPES = {
    "full": {"batch": 512, "channels": 64, "side": 64, "classes": 1000},
    "medium": {"batch": 128, "channels": 64, "side": 64, "classes": 1000},
    "small": {"batch": 16, "channels": 16, "side": 32, "classes": 100},
    "odd": {"batch": 13, "channels": 17, "side": 29, "classes": 97},
}
INPUTS = ("default", "signed", "wide")
SPEC = {"precision": "fp32", "mode": "train", "moves": "all"}


class Model(nn.Module):
    """(batch, 3, side, side) -> (batch, classes). No bias before a batch norm, which would cancel it."""

    def __init__(self, channels: int, classes: int):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * channels)
        self.head = nn.Linear(2 * channels, classes)
        nn.init.normal_(self.head.weight, std=(2 * channels) ** -0.5)
        for bn in (self.bn1, self.bn2):
            nn.init.uniform_(bn.weight, 0.5, 1.5)
            nn.init.normal_(bn.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        return self.head(x.mean(dim=(2, 3)))


def get_inputs(
    *, batch: int = 512, channels: int = 64, side: int = 64, classes: int = 1000, family: str = "default"
) -> list[torch.Tensor]:
    shape = (batch, 3, side, side)
    if family == "default":  # images on [0, 1) of unequal contrast, or all pooled features would look alike
        return [torch.rand(shape) * torch.rand(batch, 3, 1, 1)]
    x = torch.randn(shape) * (torch.rand(batch, 1, 1, 1) + 0.25)
    return [x * 10 ** (torch.rand(shape) * 6 - 3) if family == "wide" else x]


def get_init_inputs(*, batch: int = 512, channels: int = 64, side: int = 64, classes: int = 1000) -> list:
    return [channels, classes]
