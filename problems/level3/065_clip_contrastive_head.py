"""CLIP's head: two projections, unit length, scaled cosine of every image with every text, cross-entropy of each row and of each
column against the diagonal. No public counterpart; the losses are not averaged, for a mean hides most of the work."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {
    "full": {"pairs": 16384, "image_features": 1024, "text_features": 768, "width": 512},
    "medium": {"pairs": 8192, "image_features": 1024, "text_features": 768, "width": 512},
    "small": {"pairs": 768, "image_features": 256, "text_features": 192, "width": 64},
    "odd": {"pairs": 761, "image_features": 251, "text_features": 179, "width": 61},
}
INPUTS = ("default", "ties", "wide")
SPEC = {"precision": "fp32", "mode": "eval", "moves": "all"}


class Model(nn.Module):
    """images (pairs, image_features), texts (pairs, text_features) -> loss of each image (pairs) and of each text (pairs)."""

    def __init__(self, image_features: int, text_features: int, width: int):
        super().__init__()
        self.image = nn.Linear(image_features, width, bias=False)
        self.text = nn.Linear(text_features, width, bias=False)
        self.log_scale = nn.Parameter(torch.tensor(3.0))
        nn.init.normal_(self.image.weight, std=image_features**-0.5)
        nn.init.normal_(self.text.weight, std=text_features**-0.5)

    def forward(self, images: torch.Tensor, texts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        images = F.normalize(self.image(images), dim=-1)
        texts = F.normalize(self.text(texts), dim=-1)
        logits = self.log_scale.exp() * images @ texts.t()  # (pairs, pairs)
        matched = logits.diagonal()
        return logits.logsumexp(dim=1) - matched, logits.logsumexp(dim=0) - matched


def get_inputs(
    *,
    pairs: int = 16384,
    image_features: int = 1024,
    text_features: int = 768,
    width: int = 512,
    family: str = "default",
) -> list[torch.Tensor]:
    images, texts = torch.randn(pairs, image_features), torch.randn(pairs, text_features)
    if family == "ties":  # every text stands under two images
        texts = texts[: (pairs + 1) // 2].repeat(2, 1)[:pairs].contiguous()
    if family == "wide":  # features over three decades, which the unit length takes off
        images = images * 10 ** (torch.rand(pairs, 1) * 3 - 2)
    return [images, texts]


def get_init_inputs(
    *, pairs: int = 16384, image_features: int = 1024, text_features: int = 768, width: int = 512
) -> list:
    return [image_features, text_features, width]
