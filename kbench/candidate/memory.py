"""Memory of the lane's as tensors: host memory through a descriptor, device memory through an exported handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kbench.candidate import driver, protocol


class Shared:
    """An area that the lane owns, mapped here for as long as this process lives."""

    def __init__(self, ticket: dict[str, Any], fd: int) -> None:
        """`ticket` is what the lane's Area.ticket() gave; `fd` the descriptor that came with this process."""
        self.size_bytes: int = ticket["bytes"]
        if ticket["handle"]:
            self.address = driver.attach(ticket["handle"])
            self.flat = device_bytes(self.address, self.size_bytes)
        else:
            memory = protocol.map_memory(fd, self.size_bytes, writable=True, populate=True)
            self.flat = torch.frombuffer(memory, dtype=torch.uint8)
            self.address = self.flat.data_ptr()

    def populate(self) -> None:
        """A worker that punched holes into the file must cost no other one a page fault in its block."""
        if not self.flat.is_cuda:
            protocol.populate_memory(self.address, self.size_bytes)

    def view(self, spec: dict[str, Any], base: int) -> torch.Tensor:
        """The tensor that a leaf's spec names, in the slot at `base`."""
        return view(self.flat, base + spec["offset"], spec["dtype"], spec["shape"], spec["stride"])


def view(flat: torch.Tensor, offset: int, dtype: str, shape: Sequence[int], stride: Sequence[int]) -> torch.Tensor:
    """A tensor of `shape` and `stride` over the bytes of flat (uint8) from offset on."""
    kind = getattr(torch, dtype)
    if 0 in shape:
        return torch.empty(list(shape), dtype=kind, device=flat.device)
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
    return flat[offset : offset + extent * kind.itemsize].view(kind).as_strided(list(shape), list(stride))


class _Array:
    def __init__(self, address: int, size_bytes: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size_bytes,), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip


def device_bytes(address: int, size_bytes: int) -> torch.Tensor:
    """Device memory that this process did not get from torch, as a flat uint8 tensor; it is not freed with the tensor."""
    return torch.as_tensor(_Array(address, size_bytes), device="cuda")
