"""Device memory that two processes share by CUDA IPC: the lane's areas, and its hands in a worker's allocations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from kbench.candidate import driver, memory
from kbench.devices import Area


class DeviceArea:
    """Plain device memory that the lane owns. `fd` is an empty file: on a GPU the ticket alone says where it is."""

    def __init__(self, name: str) -> None:
        self.name, self.address, self.size_bytes = name, 0, 0
        self.fd = os.memfd_create(f"kbench-{name}", os.MFD_CLOEXEC)

    def allocate(self, size_bytes: int) -> None:
        self.size_bytes = max(size_bytes, 1)
        self.address = driver.allocate(self.size_bytes)
        self.flat = memory.device_bytes(self.address, self.size_bytes)

    def ticket(self) -> dict[str, Any]:
        return {"bytes": self.size_bytes, "handle": driver.export(self.address)}

    def close(self) -> None:
        os.close(self.fd)
        if self.address:
            torch.cuda.synchronize()
            driver.free(self.address)
            self.address = 0


class Segment:
    """A worker's allocation, mapped here."""

    def __init__(self, begin: int, handle: str) -> None:
        self.begin, self.handle = begin, handle
        self.address = driver.attach(handle)
        self.size_bytes = driver.allocation_of(self.address)[1]  # the driver's word, not the worker's
        self.flat = memory.device_bytes(self.address, self.size_bytes)

    @property
    def end(self) -> int:
        return self.begin + self.size_bytes


class IpcHands:
    """Reads and writes a worker's outputs through mappings of its allocator's segments.

    What the worker says of a segment is only which memory it calls by which address. Two segments that share memory or
    addresses are refused, so that outputs which overlap in fact overlap in address.
    """

    told = True

    def __init__(self, region: Area) -> None:
        self.region, self.segments = region, list[Segment]()
        self.region_begin: int | None = None  # where the worker says its inputs lie; names a fault, decides nothing

    def learn(self, segments: Any) -> bool:
        """`segments`: [[address, handle], ...] and the region's own address, well-formed. ValueError where they cannot be."""
        before = {segment.handle for segment in self.segments}
        self.region_begin = segments["region"]
        current = {handle for _, handle in segments["held"]}
        for segment in [s for s in self.segments if s.handle not in current]:
            self.segments.remove(segment)
            driver.detach(segment.address)
        known = {segment.handle: segment.begin for segment in self.segments}
        for begin, handle in segments["held"]:
            if known.get(handle, begin) != begin:
                raise ValueError("one memory under two addresses")
            if handle not in known:
                self.segments.append(Segment(begin, handle))
                known[handle] = begin
        ordered = sorted(self.segments, key=lambda segment: segment.begin)
        if any(first.end > second.begin for first, second in pairwise(ordered)):
            raise ValueError("two memories under one address")
        return before != current

    def find(self, address: int, size_bytes: int) -> torch.Tensor | None:
        for segment in self.segments:
            if segment.begin <= address and address + size_bytes <= segment.end:
                return segment.flat[address - segment.begin :][:size_bytes]
        if self.region_begin is not None:
            offset = address - self.region_begin
            if offset >= 0 and offset + size_bytes <= self.region.size_bytes:
                return self.region.flat[offset : offset + size_bytes]
        return None

    def holds(self, spans: Sequence[tuple[int, int]]) -> bool:
        return all(self.find(address, size) is not None for address, size in spans if size)

    def read(self, address: int, size_bytes: int) -> torch.Tensor | None:
        found = self.find(address, size_bytes)
        return found.clone() if found is not None else None

    def write(self, address: int, data: torch.Tensor) -> bool:
        found = self.find(address, data.numel())
        if found is None:
            return False
        found.copy_(data)
        return True

    def in_inputs(self, spans: Sequence[tuple[int, int]]) -> list[bool]:
        begin = self.region_begin
        if begin is None:
            return [False] * len(spans)
        return [begin < at + size and at < begin + self.region.size_bytes for at, size in spans]

    def close(self) -> None:
        for segment in self.segments:
            driver.detach(segment.address)
        self.segments = []
