"""Shared memory that the other side can neither shrink nor write where it may only read; and the lane's own hands."""

from __future__ import annotations

import ctypes
import mmap
import os

import pytest
import torch

from kbench import devices
from kbench.candidate import protocol
from kbench.devices import cpu


def test_a_sealed_region_can_be_neither_truncated_nor_grown() -> None:
    region = cpu.Region("test", 8192)
    for size in (0, 4096, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(region.fd, size)
    region.close()


def test_a_readable_only_region_cannot_be_written_by_the_other_side() -> None:
    region = cpu.Region("test", 4096, readable_only=True)
    with pytest.raises(PermissionError):
        os.write(region.fd, b"x")
    with pytest.raises(PermissionError):
        mmap.mmap(region.fd, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    protocol.store_word(region.address, 7)
    view = mmap.mmap(region.fd, 4096, prot=mmap.PROT_READ)
    assert view[:4] == b"\x07\0\0\0"
    view.close()
    region.close()


def test_another_process_is_read_and_written_at_its_own_addresses() -> None:
    source = torch.arange(100_000, dtype=torch.int32)
    address, count = source.data_ptr(), source.numel() * 4
    hands = cpu.ProcessHands(os.getpid(), "none")
    taken = hands.read(address, count)
    assert taken is not None
    assert torch.equal(taken.view(torch.int32), source)
    taken.view(torch.int32).fill_(5)
    assert bool((source != 5).any())  # what was taken is a copy
    assert hands.write(address, taken)
    assert bool((source == 5).all())


def test_an_address_that_holds_nothing_is_refused_without_a_crash() -> None:
    assert cpu.ProcessHands(os.getpid(), "none").read(8, 4096) is None


def test_an_output_in_the_input_region_is_recognised() -> None:
    region = cpu.Region("region-test", 8192)
    hands = cpu.ProcessHands(os.getpid(), region.name)
    own = torch.zeros(64)
    assert hands.in_inputs([(region.address + 4096, 64), (own.data_ptr(), 256)]) == [True, False]
    region.close()


def test_differing_bytes_are_seen_wherever_they_stand() -> None:
    first, second = cpu.Region("a", 4096), cpu.Region("b", 4096)
    assert devices.same(first, second, 0, 4095)
    for place in (0, 4090, 4094):
        ctypes.c_uint8.from_address(second.address + place).value = 1
        assert not devices.same(first, second, 0, 4095)
        ctypes.c_uint8.from_address(second.address + place).value = 0
    ctypes.c_uint8.from_address(second.address + 4095).value = 1
    assert devices.same(first, second, 0, 4095)  # beyond the end
    first.close()
    second.close()
