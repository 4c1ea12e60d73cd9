"""Where everything lies in the shared areas, worked out once a problem from what the oracle described.

staging, and every worker's region    init tensors | state | slot 0 | slot 1 | ...     (the same offsets in both)
expected                              per checked call and output: exact (fp64), eager | state | an index answer | rows
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbench.candidate import protocol

ALIGNMENT = 256
SKEW = 4096 + 256  # between slots: the same element of two slots must not always fall into the same cache set
ITEM_BYTES = {
    "float64": 8, "int64": 8, "complex64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2,
    "complex128": 16, "bool": 1, "uint8": 1, "int8": 1, "scalar": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaf:
    """One tensor: dtype name, shape, stride, and its offset within its slot, area or table."""

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0
    name: str = ""
    kind: str = ""
    aliases_input: bool = False

    @property
    def extent(self) -> int:
        """Elements from the first to the last one, gaps included."""
        if 0 in self.shape:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.stride, strict=True))

    @property
    def size_bytes(self) -> int:
        return self.extent * ITEM_BYTES[self.dtype]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def at(self, offset: int) -> Leaf:
        return Leaf(self.dtype, self.shape, self.stride, offset, self.name, self.kind, self.aliases_input)

    def plain(self) -> dict[str, Any]:
        return {
            "dtype": self.dtype, "shape": list(self.shape), "stride": list(self.stride),
            "offset": self.offset, "name": self.name, "kind": self.kind,
        }  # fmt: skip


def leaf_of(spec: dict[str, Any]) -> Leaf:
    return Leaf(
        spec["dtype"], tuple(spec["shape"]), tuple(spec["stride"]),
        name=spec.get("name", ""), kind=spec.get("kind", ""), aliases_input=spec.get("aliases_input", False),
    )  # fmt: skip


def placed(leaves: Sequence[Leaf], start: int = 0) -> tuple[tuple[Leaf, ...], int]:
    """The leaves one behind another from `start`, aligned; and the first free offset after them."""
    out, at = [], start
    for leaf in leaves:
        at = _aligned(at)
        out.append(leaf.at(at))
        at += leaf.size_bytes
    return tuple(out), _aligned(at)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def answer_leaf(leaf: Leaf) -> Leaf:
    """How an expected output is written: float64 for anything floating (complex as pairs), int64 else; contiguous."""
    shape = (*leaf.shape, 2) if leaf.dtype.startswith("complex") else leaf.shape
    floating = leaf.dtype.startswith(("float", "bfloat", "complex", "scalar"))
    stride = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    return Leaf("float64" if floating else "int64", shape, stride, name=leaf.name)


def eager_leaf(leaf: Leaf) -> Leaf:
    """How eager's answer is written: in its own dtype (complex as pairs); contiguous."""
    exact = answer_leaf(leaf)
    own = {"complex64": "float32", "complex128": "float64", "scalar": "float64"}.get(leaf.dtype, leaf.dtype)
    return Leaf(own, exact.shape, exact.stride, name=leaf.name)


@dataclass(frozen=True, slots=True)
class Answer:
    exact: Leaf
    eager: Leaf

    def plain(self) -> dict[str, Any]:
        return {"exact": self.exact.plain(), "eager": self.eager.plain(), "name": self.exact.name}


@dataclass(frozen=True, slots=True)
class Layout:
    init: tuple[Leaf, ...]
    state: tuple[Leaf, ...]
    leaves: tuple[Leaf, ...]  # offsets within a slot
    outputs: tuple[Leaf, ...]
    slots: tuple[int, ...]  # base offset of each
    slot_bytes: int
    region_bytes: int
    answers: tuple[tuple[Answer, ...], ...]  # per checked call, per output
    state_answers: tuple[Answer, ...]
    index_answers: tuple[Leaf, ...]  # where an index output of the candidate is put for the oracle, per output
    row_answers: tuple[Answer, ...]  # per output, one row of each of many calls; empty where rows do not stand alone
    expected_bytes: int
    weight_bytes: int
    on_gpu: bool

    @property
    def table_bytes(self) -> int:
        return protocol.table_bytes(len(self.slots), self.max_leaves, len(self.state))

    @property
    def max_leaves(self) -> int:
        return len(self.outputs)


def lay_out(description: dict[str, Any], slots: int, checked: int) -> Layout:
    """`slots` input slots, and room for the answers of `checked` calls."""
    init, at = placed([leaf_of(spec) for spec in description["init_leaves"]])
    state, weight_end = placed([leaf_of(spec) for spec in description["state"]], at)
    leaves, slot_bytes = placed([leaf_of(spec) for spec in description["leaves"]])
    outputs = tuple(leaf_of(spec) for spec in description["outputs"])
    bases = tuple(weight_end + i * (slot_bytes + SKEW) for i in range(slots))
    answers, at = [], 0
    for _ in range(checked):
        pairs, at = _answers(outputs, at)
        answers.append(pairs)
    state_answers, at = _answers(state if description["mutated"] else (), at)
    index_answers, at = placed([answer_leaf(leaf) for leaf in outputs], at)
    row_answers, at = _answers([rows_of(leaf, slots) for leaf in outputs] if description["batch"] else (), at)
    return Layout(
        init, state, leaves, outputs, bases, slot_bytes, weight_end + slots * (slot_bytes + SKEW),
        tuple(answers), state_answers, index_answers, row_answers, max(at, 1), weight_end, description["device"] != "cpu",
    )  # fmt: skip


def rows_of(leaf: Leaf, calls: int) -> Leaf:
    """One row of each of `calls` calls, of at most a whole output's size; contiguous."""
    shape = (min(calls, leaf.shape[0]), *leaf.shape[1:])
    return Leaf(leaf.dtype, shape, tuple(math.prod(shape[i + 1 :]) for i in range(len(shape))), name=leaf.name)


def _answers(leaves: Sequence[Leaf], at: int) -> tuple[tuple[Answer, ...], int]:
    pairs = []
    for leaf in leaves:
        (exact, eager), at = placed([answer_leaf(leaf), eager_leaf(leaf)], at)
        pairs.append(Answer(exact, eager))
    return tuple(pairs), at
