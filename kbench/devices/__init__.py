"""What the referee needs of a device: memory that it owns and shares, its own hands, a cold cache, and whether work is left.

A device is "cpu", or "cuda:N". The same referee judges on either; add one by writing a module with a class like these two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

CHECKED_AT_ONCE = 4  # calls of a block whose whole outputs are compared, at most


class Area(Protocol):
    """Memory of the lane's that worker processes map. `fd` is passed to them when they start, the ticket when they map it."""

    name: str
    fd: int
    size_bytes: int
    flat: torch.Tensor  # all of it as uint8, once allocated

    def allocate(self, size_bytes: int) -> None: ...
    def ticket(self) -> dict[str, Any]: ...
    def close(self) -> None: ...


class Hands(Protocol):
    """The lane's own access to the memory of one frozen worker, at the addresses that the worker knows it by."""

    told: bool  # whether the worker must tell where its memory lies

    def holds(self, spans: Sequence[tuple[int, int]]) -> bool: ...  # whether every (address, bytes) can be read now
    def read(self, address: int, size_bytes: int) -> torch.Tensor | None: ...  # a private flat uint8 copy
    def write(self, address: int, data: torch.Tensor) -> bool: ...
    def in_inputs(self, spans: Sequence[tuple[int, int]]) -> list[bool]: ...  # whether any of it is the worker's input
    def learn(self, segments: Any) -> bool: ...  # where the worker says its memory lies, checked; whether it is news
    def close(self) -> None: ...


class Vigil(Protocol):
    """The device at work for the lane without a pause, so that nobody else's work can be done there unseen."""

    probe_us: float  # how long a short canary took before it, right after done; every other process stands frozen

    def has_ended(self) -> bool: ...  # whether the lane's work is done: from then on it is blind
    def late_us(self) -> float: ...  # how much longer it took than alone on the device, when it has ended
    def was_held_up(self) -> bool: ...  # whether that tells of others' work


class Device(Protocol):
    """One device, opened by the lane."""

    name: str
    goes_on: bool  # whether what a process launched goes on while the process stands stopped
    spins: bool  # go and done are waited for by spinning, not asleep
    block_us: float  # how long the largest block is to last
    decoy_bytes: int  # of outputs overwritten after a block, at most
    cache_bytes: int
    rates: dict[str, float]  # kbench.rates: what it was measured to do
    least_calls: int  # the largest K is at least this, whatever the memory

    @property
    def peak_bytes_per_s(self) -> float | None: ...  # no call moves its bytes faster; None where no rate is a bound
    def measure_rates(self) -> dict[str, float]: ...
    def area(self, name: str) -> Area: ...
    def hands(self, pid: int, region: Area) -> Hands: ...
    def settle(self) -> None: ...  # returns when all that the lane asked of the device is done; gives spare memory back
    def flush(self) -> None: ...  # every block starts cold
    def bring(
        self, copies: Callable[[], None], calls: int
    ) -> float: ...  # does the copies of so many calls and flushes, in us
    def was_held_up(self, took_us: float, alone_us: float) -> bool: ...  # whether others' work came between
    def vigil(
        self, least_us: float
    ) -> Vigil: ...  # begins one that lasts so long at least; 0 is the short canary alone
    def probe_us(self) -> float: ...  # how long the canary takes
    def is_late(self, probe_us: float, usual_us: Sequence[float]) -> bool: ...  # whether that tells of others' work
    def wait_idle(self) -> None: ...  # returns when nothing runs any more, or after a while
    def calls_that_fit(self, input_bytes: int, output_bytes: int) -> int: ...  # of a block; bytes of one call
    def checked_calls(self, answer_bytes: int) -> int: ...  # how many calls' answers may lie in memory at once, 1 to 4
    def conditions(self) -> dict[str, float]: ...  # clocks, temperature and what throttles, where the device tells
    def marks(self, conditions: dict[str, float]) -> tuple[str, ...]: ...  # the flags of a block taken under them


def copy(target: Area, source: Area, offset: int, count: int) -> None:
    """The same bytes of both areas."""
    target.flat[offset : offset + count].copy_(source.flat[offset : offset + count])


def same(first: Area, second: Area, offset: int, count: int) -> bool:
    """Whether those bytes are the same in both areas. Offset on 8 bytes."""
    words = offset + count // 8 * 8
    whole = torch.equal(first.flat[offset:words].view(torch.int64), second.flat[offset:words].view(torch.int64))
    return bool(whole and torch.equal(first.flat[words : offset + count], second.flat[words : offset + count]))


def open_device(name: str) -> Device:
    if name == "cpu":
        from kbench.devices.cpu import Cpu

        return Cpu()
    from kbench.devices.cuda import Cuda

    return Cuda(name)
