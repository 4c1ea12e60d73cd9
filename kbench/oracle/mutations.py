"""Wrong forwards, made from the right one without knowing the problem: an operator is altered where it is dispatched.

skip        the operator hands on its first argument
eps         ten times the epsilon it was given
naive       softmax and its relatives without the maximum taken off
tanh        GELU by its tanh approximation, or by erf where the problem asks for tanh
correction  a variance over n - 1 where it was over n, and the other way round
tail        the last element of what is summed over is left out

An operator is named by its kind and its occurrence ("relu #2" is the second), the same in fp32 and fp64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbench.oracle.ties import bind

Call = Callable[[Any, dict[str, Any]], Any]  # an operator and its arguments by name -> a result
NO_WORK = {"clone", "contiguous", "copy_", "_to_copy", "lift_fresh", "lift_fresh_copy", "fill_", "zero_", "fill"}
# Operator -> the argument whose last element along a dimension is left out; None: the dimension is the operator's own `dim`.
SUMMED: dict[str, tuple[str, int | None]] = {
    "mm": ("self", -1), "bmm": ("self", -1), "addmm": ("mat1", -1), "convolution": ("weight", 1),
    "sum": ("self", None), "mean": ("self", None), "cumsum": ("self", None),
}  # fmt: skip


class Traced(TorchDispatchMode):  # type: ignore[misc]
    """Collects which alterations each operator of a forward allows, and the operators that hand on what they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.found: list[tuple[str, int, str]] = []  # operator, occurrence, alteration
        self.idle: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        given = bind(func, args, kwargs or {})
        first = next(iter(given.values()), None)
        before = first.clone() if name.endswith("_") and isinstance(first, torch.Tensor) else first
        result = func(*args, **(kwargs or {}))
        self.count[name] += 1
        occurrence = self.count[name]
        self.found += [(name, occurrence, alteration) for alteration in alterations(func, name, given)]
        if skippable(name, first, result):
            if torch.equal(before, leading(result)):
                self.idle.append(f"{name} #{occurrence}")
            else:
                self.found.append((name, occurrence, "skip"))
        return result


class Altered(TorchDispatchMode):  # type: ignore[misc]
    """Runs a forward with one operator altered; `done` says whether it came by."""

    def __init__(self, name: str, occurrence: int, alteration: str) -> None:
        super().__init__()
        self.name, self.occurrence, self.alteration = name, occurrence, ALTERATIONS[alteration]
        self.seen, self.done = 0, False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self.seen += name == self.name
        if name != self.name or self.seen != self.occurrence:
            return func(*args, **(kwargs or {}))
        self.done = True
        return self.alteration(func, bind(func, args, kwargs or {}))


def leading(result: Any) -> Any:
    return result[0] if isinstance(result, (tuple, list)) and result else result


def skippable(name: str, first: Any, result: Any) -> bool:
    """Whether the operator makes a floating tensor like its first argument, in memory of its own or in place."""
    made = leading(result)
    if name in NO_WORK or not (isinstance(first, torch.Tensor) and isinstance(made, torch.Tensor)):
        return False
    if not first.is_floating_point() or first.shape != made.shape or first.dtype != made.dtype or not first.numel():
        return False
    return name.endswith("_") or made.untyped_storage().data_ptr() != first.untyped_storage().data_ptr()


def alterations(func: Any, name: str, given: dict[str, Any]) -> list[str]:
    """The alterations that the operator's arguments allow, "skip" apart."""
    arguments = {argument.name for argument in func._schema.arguments}
    found = ["eps"] if isinstance(given.get("eps"), float) else []
    found += ["naive"] if name in ("_softmax", "_log_softmax", "logsumexp") else []
    found += ["tanh"] if name == "gelu" else []
    found += ["correction"] if "correction" in arguments else []
    found += ["tail"] if name in SUMMED and summed_dim(name, given) is not None else []
    return found


def summed_dim(name: str, given: dict[str, Any]) -> int | None:
    """The dimension that the operator sums over; None where it has fewer than two elements."""
    which, dim = SUMMED[name]
    source = given.get(which)
    if not isinstance(source, torch.Tensor) or not source.ndim or not source.is_floating_point():
        return None
    if dim is None:
        own = given.get("dim")
        dim = own[0] if isinstance(own, (list, tuple)) and own else own if isinstance(own, int) else 0
    return dim if source.shape[dim] > 1 else None


def call(func: Any, given: dict[str, Any]) -> Any:
    positional = [a.name for a in func._schema.arguments if not a.kwarg_only and a.name in given]
    return func(*(given[name] for name in positional), **{k: v for k, v in given.items() if k not in positional})


def _skip(func: Any, given: dict[str, Any]) -> Any:
    first = next(iter(given.values()))
    if len(func._schema.returns) == 1:
        return first if func.overloadpacket.__name__.endswith("_") else first.clone()
    return (first.clone(), *call(func, given)[1:])


def _eps(func: Any, given: dict[str, Any]) -> Any:
    return call(func, given | {"eps": 10 * given["eps"] or 1e-3})


def _naive(func: Any, given: dict[str, Any]) -> Any:
    powers = given["self"].exp()
    dim = given["dim"]
    total = powers.sum(dim, keepdim=True)
    kind = func.overloadpacket.__name__
    if kind == "_softmax":
        return powers / total
    if kind == "_log_softmax":
        return given["self"] - total.log()
    return powers.sum(dim, keepdim=bool(given.get("keepdim"))).log()


def _tanh(func: Any, given: dict[str, Any]) -> Any:
    return call(func, given | {"approximate": "none" if given.get("approximate") == "tanh" else "tanh"})


def _correction(func: Any, given: dict[str, Any]) -> Any:
    return call(func, given | {"correction": 1 if given.get("correction") == 0 else 0})


def _tail(func: Any, given: dict[str, Any]) -> Any:
    which, _ = SUMMED[func.overloadpacket.__name__]
    dim = summed_dim(func.overloadpacket.__name__, given)
    assert dim is not None
    source = given[which].clone()
    source.select(dim, -1).zero_()
    return call(func, given | {which: source})


ALTERATIONS: dict[str, Call] = {
    "skip": _skip, "eps": _eps, "naive": _naive, "tanh": _tanh, "correction": _correction, "tail": _tail,
}  # fmt: skip


def rounded(tensor: torch.Tensor, kind: str) -> torch.Tensor:
    """The tensor with the mantissa of "bfloat16", "float16" or "tf32", in its own dtype; integers as they are."""
    if not tensor.is_floating_point():
        return tensor
    if kind != "tf32":
        return tensor.to(getattr(torch, kind)).to(tensor.dtype)
    mantissa, exponent = torch.frexp(tensor)
    return torch.ldexp((mantissa * 2048).round() / 2048, exponent)  # 10 bits stored, one implied
