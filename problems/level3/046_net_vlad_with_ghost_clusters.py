"""NetVLAD: descriptors softly assigned to clusters, some of them ghosts whose share is dropped; residuals summed a cluster,
normalised, projected, normalised again. As the public problem 46 of level 3, with a projection before the last norm, which there
only divides by a constant."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"batch": 2048, "points": 100, "features": 512, "clusters": 32, "ghosts": 16, "out_features": 256},
    "medium": {"batch": 512, "points": 100, "features": 512, "clusters": 32, "ghosts": 16, "out_features": 256},
    "small": {"batch": 96, "points": 50, "features": 128, "clusters": 16, "ghosts": 8, "out_features": 64},
    "odd": {"batch": 89, "points": 47, "features": 113, "clusters": 13, "ghosts": 5, "out_features": 61},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """(batch, points, features) -> (batch, out), rows of length one."""

    def __init__(self, features: int, clusters: int, ghosts: int, out_features: int):
        super().__init__()
        self.clusters = clusters
        self.assign = nn.Linear(features, clusters + ghosts, bias=False)
        self.norm = nn.BatchNorm1d(clusters + ghosts)
        self.centres = nn.Parameter(torch.randn(clusters, features))
        self.project = nn.Linear(clusters * features, out_features)
        nn.init.normal_(self.assign.weight, std=2 * features**-0.5)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        nn.init.normal_(self.norm.running_mean, std=0.5)
        nn.init.uniform_(self.norm.running_var, 0.5, 1.5)
        nn.init.normal_(self.project.weight, std=clusters**-0.5)
        nn.init.normal_(self.project.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, _ = x.shape
        share = torch.softmax(self.norm(self.assign(x).flatten(0, 1)), dim=-1)
        share = share[:, : self.clusters].view(b, n, self.clusters).transpose(1, 2)  # the ghosts' part is lost
        residuals = share @ x - share.sum(dim=-1, keepdim=True) * self.centres  # (b, clusters, features)
        residuals = F.normalize(residuals, dim=-1)
        return F.normalize(self.project(residuals.flatten(1)), dim=-1)


def get_inputs(
    *,
    batch: int = 2048,
    points: int = 100,
    features: int = 512,
    clusters: int = 32,
    ghosts: int = 16,
    out_features: int = 256,
    family: str = "default",
) -> list[torch.Tensor]:
    x = torch.randn(batch, points, features)
    if family == "ties":  # an image's descriptors are one descriptor: all of it goes where the first goes
        return [x[:, :1].expand(-1, points, -1).contiguous()]
    if family == "wide":  # descriptors of very unequal strength: the strong ones go to one cluster each
        return [x * 10 ** (torch.rand(batch, points, 1) * 2 - 1.5)]
    return [x + torch.randn(batch, 1, features)]


def get_init_inputs(
    *,
    batch: int = 2048,
    points: int = 100,
    features: int = 512,
    clusters: int = 32,
    ghosts: int = 16,
    out_features: int = 256,
) -> list:
    return [features, clusters, ghosts, out_features]
