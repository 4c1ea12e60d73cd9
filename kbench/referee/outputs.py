"""Reads what a frozen worker published: validates the table, takes outputs with the lane's own hands, leaves decoys."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from kbench.candidate import protocol
from kbench.devices import Hands
from kbench.referee.layout import ITEM_BYTES, Layout, Leaf
from kbench.referee.wire import Tamper
from kbench.types import Status

MAX_GAP_FACTOR = 16  # an output may be a view with gaps; its extent may be this many times its elements


class Wrong(Exception):
    """The candidate's answer is refused; carries the status and the gate whose evidence fired."""

    def __init__(self, status: Status, gate: str, evidence: str) -> None:
        super().__init__(evidence)
        self.status, self.gate, self.evidence = status, gate, evidence


@dataclass(frozen=True, slots=True)
class Published:
    """One output tensor of one call as the worker described it, checked against what the problem returns."""

    call: int
    output: int
    leaf: Leaf  # the candidate's own stride, the reference's dtype and shape
    address: int
    number: float | None = None  # where the reference returns a Python number

    @property
    def end(self) -> int:
        return self.address + self.leaf.size_bytes


def output_name(layout: Layout, index: int) -> str:
    return "output" if len(layout.outputs) == 1 else f"output[{index}]"


def published(layout: Layout, structure: int, table: bytes, calls: int) -> list[list[Published]]:
    """Per call, per output. Raises Wrong where structure, dtype, shape or device are not the reference's."""
    return [_row(layout, structure, table, call) for call in range(calls)]


def _row(layout: Layout, structure: int, table: bytes, call: int) -> list[Published]:
    at = protocol.TABLE_ROWS_OFFSET + call * protocol.row_bytes(layout.max_leaves)
    count, code = protocol.ROW_HEAD.unpack_from(table, at)
    if count == protocol.UNPUBLISHED:
        raise Tamper(f"done was flipped before call {call} had published an output")
    wanted = len(layout.outputs)
    if count != wanted or code != structure:
        kind = protocol.STRUCTURES[code] if code < len(protocol.STRUCTURES) else "unknown"
        wanted_kind = protocol.STRUCTURES[structure]
        raise Wrong(
            Status.INCORRECT, "structure",
            f"forward returned a {kind} of {count} tensor(s) where a {wanted_kind} of {wanted} was expected",
        )  # fmt: skip
    at += protocol.ROW_HEAD_BYTES
    return [_leaf(layout, table, at + i * protocol.LEAF_BYTES, call, i) for i in range(wanted)]


def _leaf(layout: Layout, table: bytes, at: int, call: int, index: int) -> Published:
    wanted, name = layout.outputs[index], output_name(layout, index)
    address, code, ndim, plain, on_gpu, *rest = protocol.LEAF.unpack_from(table, at)
    if wanted.dtype == "scalar":
        if code != protocol.SCALAR:
            raise Wrong(Status.INCORRECT, "structure", f"{name} is no number where a Python number was expected")
        return Published(call, index, wanted, 0, struct.unpack("<d", struct.pack("<Q", address))[0])
    if code >= len(protocol.DTYPES):
        raise Wrong(Status.INCORRECT, "structure", f"{name} is no tensor where a {wanted.dtype} tensor was expected")
    if not plain:
        raise Wrong(Status.INCORRECT, "structure", f"{name} is a subclass of torch.Tensor; a plain tensor was expected")
    if ndim > protocol.MAX_DIMS or ndim != len(wanted.shape) or tuple(rest[:ndim]) != wanted.shape:
        got = list(rest[: min(ndim, protocol.MAX_DIMS)])
        raise Wrong(Status.INCORRECT, "structure", f"{name} has shape {got} where {list(wanted.shape)} was expected")
    dtype = protocol.DTYPES[code]
    if dtype != wanted.dtype:
        raise Wrong(Status.INCORRECT, "structure", f"{name} is {dtype} where {wanted.dtype} was expected")
    if bool(on_gpu) != layout.on_gpu:
        here, there = ("the GPU", "the host") if on_gpu else ("the host", "the GPU")
        raise Wrong(Status.INCORRECT, "structure", f"{name} lies in memory of {here} where {there} was expected")
    stride = tuple(rest[protocol.MAX_DIMS : protocol.MAX_DIMS + ndim])
    leaf = Leaf(dtype, wanted.shape, stride, aliases_input=wanted.aliases_input)
    if min(stride, default=0) < 0 or leaf.extent > MAX_GAP_FACTOR * max(leaf.elements, 4096):
        raise Wrong(Status.INCORRECT, "structure", f"{name} has stride {list(stride)}, which is no layout of its shape")
    return Published(call, index, leaf, address)


def repeats_storage(rows: Sequence[Sequence[Published]]) -> bool:
    """Whether outputs of different calls overlap: a static buffer, which must be cloned as the calls go."""
    spans = sorted((p.address, p.end, p.call) for row in rows for p in row if p.leaf.size_bytes and p.number is None)
    return any(begin < end and call != other for (_, end, call), (begin, _, other) in pairwise(spans))


def spans_of(rows: Sequence[Sequence[Published]]) -> list[tuple[int, int]]:
    """(address, bytes) of every output that is memory."""
    return [(item.address, item.leaf.size_bytes) for row in rows for item in row if item.number is None]


def overlaps_inputs(rows: Sequence[Sequence[Published]], hands: Hands) -> Published | None:
    """An output that lies in the input region although the reference's does not."""
    items = [item for row in rows for item in row if item.number is None and item.leaf.size_bytes]
    inside = hands.in_inputs([(item.address, item.leaf.size_bytes) for item in items])
    return next((item for item, hit in zip(items, inside, strict=True) if hit and not item.leaf.aliases_input), None)


def take(hands: Hands, item: Published) -> torch.Tensor:
    """A private copy of one output (its extent, viewed with its own stride). Wrong where the address cannot be read."""
    if item.number is not None:
        return torch.tensor(item.number, dtype=torch.float64)
    raw = hands.read(item.address, item.leaf.size_bytes)
    if raw is None:
        told = f"call {item.call} published an address that holds no memory of {item.leaf.size_bytes} bytes"
        raise Wrong(Status.TAMPER, "outputs", told)
    flat = raw.view(getattr(torch, item.leaf.dtype)) if raw.numel() else raw.to(getattr(torch, item.leaf.dtype))
    return flat.as_strided(item.leaf.shape, item.leaf.stride) if raw.numel() else flat.reshape(item.leaf.shape)


def row(item: Published, index: int) -> Published:
    """One row (of dimension 0) of an output, as an output."""
    leaf = Leaf(item.leaf.dtype, item.leaf.shape[1:], item.leaf.stride[1:])
    return Published(item.call, item.output, leaf, item.address + index * item.leaf.stride[0] * ITEM_BYTES[leaf.dtype])


def leave_decoy(hands: Hands, item: Published, other: torch.Tensor) -> bool:
    """Overwrites an output with another call's answer: plausible and wrong, where the allocator will hand it out again. Whether
    it did."""
    if item.number is not None or item.leaf.aliases_input or not item.leaf.size_bytes:
        return False
    if item.leaf.extent <= item.leaf.elements and other.stride() == item.leaf.stride:
        raw = other.as_strided((item.leaf.extent,), (1,)).view(torch.uint8)
    else:  # a view with gaps: what lies in them stays
        raw = hands.read(item.address, item.leaf.size_bytes)
        if raw is None:
            return False
        own = raw.view(getattr(torch, item.leaf.dtype)).as_strided(item.leaf.shape, item.leaf.stride)
        for dim, step in enumerate(item.leaf.stride):
            if step == 0:  # expanded: one place for all
                own, other = own.narrow(dim, 0, 1), other.narrow(dim, 0, 1)
        own.copy_(other)
    return hands.write(item.address, raw)


def states(layout: Layout, table: bytes) -> list[Published | None]:
    """The candidate's own state tensors, one for each of the reference's; None where it has no counterpart."""
    base = protocol.state_offset(len(layout.slots), layout.max_leaves)
    found: list[Published | None] = []
    for i, wanted in enumerate(layout.state):
        address, code, ndim, _, _, *rest = protocol.LEAF.unpack_from(table, base + i * protocol.LEAF_BYTES)
        fits = code < len(protocol.DTYPES) and ndim == len(wanted.shape) and tuple(rest[:ndim]) == wanted.shape
        if not fits or protocol.DTYPES[code] not in ITEM_BYTES:
            found.append(None)
            continue
        stride = tuple(rest[protocol.MAX_DIMS : protocol.MAX_DIMS + ndim])
        leaf = Leaf(protocol.DTYPES[code], wanted.shape, stride, name=wanted.name)
        broken = min(stride, default=0) < 0 or leaf.extent > MAX_GAP_FACTOR * max(leaf.elements, 4096)
        found.append(None if broken else Published(-1, i, leaf, address))
    return found
