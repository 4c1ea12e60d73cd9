"""Which index outputs are free to differ: among equal scores torch.topk, max, sort and argmax promise no order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Operator -> which result holds the indices.
INDEX_RESULT = {"argmax": None, "argmin": None, "topk": 1, "sort": 1, "max": 1, "min": 1, "kthvalue": 1, "median": 1}


@dataclass(frozen=True, slots=True)
class Selection:
    """One operator that named positions: where in `scores` along `dim` the elements of `index` stand."""

    scores: torch.Tensor
    index: torch.Tensor
    dim: int | None
    stable: bool


class Selections(TorchDispatchMode):  # type: ignore[misc]
    """Collects every selection that a forward makes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Selection] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in INDEX_RESULT:
            return result
        given = bind(func, args, kwargs or {})
        position = INDEX_RESULT[name]
        index = result if position is None else (result[position] if isinstance(result, (tuple, list)) else None)
        if index is not None:
            scores = given["self"]
            default = -1 if name in ("sort", "topk", "kthvalue") else None
            self.found.append(Selection(scores, index, given.get("dim", default), bool(given.get("stable"))))
        return result


def bind(func: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an operator by the names of its schema."""
    names = [argument.name for argument in func._schema.arguments]
    return dict(zip(names, args, strict=False)) | kwargs


def selection_of(leaf: torch.Tensor, found: list[Selection]) -> int | None:
    """Position of the selection whose indices the output leaf is, if any."""
    for i, selection in enumerate(found):
        if selection.index.data_ptr() == leaf.data_ptr() and selection.index.numel() == leaf.numel():
            return i
    return None


def wrong_places(chosen: torch.Tensor, selection: Selection, score_error: float) -> torch.Tensor:
    """Mask of the elements of `chosen` (shape of selection.index) that name a wrong place.

    Right is a place whose score lies within score_error of the score at the reference's place, and that no other element
    along the same dimension names.
    """
    scores, dim, right = selection.scores, selection.dim, selection.index
    if dim is None:
        scores, dim = scores.reshape(-1), 0
        chosen, right = chosen.reshape(-1), right.reshape(-1)
    size = scores.shape[dim] if scores.ndim else 1
    outside = (chosen < 0) | (chosen >= size)
    places = chosen.clamp(0, size - 1)
    if chosen.ndim < scores.ndim:
        return outside | _differs(scores, places.unsqueeze(dim), right.unsqueeze(dim), dim, score_error).squeeze(dim)
    if selection.stable:
        return chosen != right
    ordered, positions = places.sort(dim)
    repeated = torch.zeros_like(outside)
    same = ordered.diff(dim=dim) == 0
    later = positions.narrow(dim, 1, positions.shape[dim] - 1) if positions.shape[dim] > 1 else positions[:0]
    if same.numel():
        repeated.scatter_(dim, later, same)
    return outside | repeated | _differs(scores, places, right, dim, score_error)


def _differs(scores: torch.Tensor, places: Any, right: Any, dim: int, score_error: float) -> torch.Tensor:
    gap = scores.gather(dim, places) - scores.gather(dim, right)
    return ~(gap.abs() <= score_error)
