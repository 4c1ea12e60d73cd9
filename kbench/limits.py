"""What the referee cannot close, in figures that follow from its own constants. `kbench attack --limits` prints them.

A candidate that skips its work in a share p of the calls is seen with probability 1 - (1 - p)^n, n being the calls that are
checked. The same p of the rows in every call is seen alike, since each check draws its row anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kbench.devices import CHECKED_AT_ONCE
from kbench.referee import clock, provenance
from kbench.referee.case import PROTOCOLS, Protocol

CALL_US = 1000.0  # of the example: a call of a millisecond on a CPU
SHORT_CALL_US = 5.0
GPU_JITTER_US = 75.0  # of a block, by the host; measured on an H200: 60 to 90
SHARES = (0.1, 0.01, 0.001)
SETTLING_CALLS = (1, 1)  # before the first full block of a pair
UNSEEN = 0.05  # a cheat that one judging in twenty lets through


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that stays open, and what it comes to."""

    title: str
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """Calls of one judging under a protocol: how many there are, and how many of those are checked whole."""

    protocol: str
    calls: int
    whole: int
    largest: int  # calls of the largest block
    whole_in_largest: int


def checked(protocol: Protocol, call_us: float = CALL_US) -> Checked:
    """On the CPU device, where memory holds as many calls as are planned."""
    from kbench.devices.cpu import Cpu

    planned = clock.plan_calls(call_us, clock.MAX_CALLS, Cpu.block_us, Cpu.least_calls)
    a_block = min(protocol.checks_a_block(call_us), CHECKED_AT_ONCE)
    blocks = [*SETTLING_CALLS, planned[-1], *protocol.timed_rounds(planned)]
    whole = sum(min(k, a_block) for k in blocks)
    return Checked(
        protocol.name, protocol.pairs * sum(blocks), protocol.pairs * whole, planned[-1], min(a_block, planned[-1])
    )


def seen(share: float, looked_at: int) -> float:
    """Probability that at least one of so many checked calls is one of the skipped share."""
    return 1.0 - (1.0 - share) ** looked_at


def largest_unseen(looked_at: int, unseen: float = UNSEEN) -> float:
    """The share that can be skipped so that a judging lets it through with that probability."""
    return float(1.0 - unseen ** (1.0 / looked_at))


def none_of(skipped: int, total: int, looked_at: int) -> float:
    """Probability that none of the skipped calls of a block is among those looked at, drawn without replacement."""
    return math.comb(total - skipped, looked_at) / math.comb(total, looked_at) if looked_at + skipped <= total else 0.0


def limits() -> list[Limit]:
    found = [checked(protocol) for protocol in PROTOCOLS.values()]
    return [
        Limit(
            "Work skipped now and then, where the rows of a batch stand alone: every call is checked in a random row",
            tuple(line for one in found for line in _skipping(one.protocol, one.calls)),
        ),
        Limit(
            "The same where they do not: only the calls that are checked whole count",
            tuple(line for one in found for line in _skipping(one.protocol, one.whole)),
        ),
        Limit(
            "Work skipped in one block alone, which the fast decile of a CPU's few blocks may then be",
            tuple(_one_block(one) for one in found),
        ),
        Limit("A cheat of a few percent", tuple(_few_percent())),
        Limit("Calls of a few microseconds", tuple(_short_calls())),
        Limit("What a GPU goes on with while its process stands stopped", tuple(_going_on())),
        Limit("Who did the work", tuple(_provenance())),
        Limit("Problems that are not worth solving", (
            "an answer that does not depend on the inputs is right when it is copied: that is the problem's fault, not the referee's",
        )),
    ]  # fmt: skip


def _skipping(protocol: str, looked_at: int) -> Iterator[str]:
    chances = ", ".join(f"{share:.1%} of them: {seen(share, looked_at):.1%}" for share in SHARES)
    yield f"{protocol}, calls of {CALL_US / 1000:.0f} ms: {looked_at} checked; skipping {chances} likely to be seen"
    yield f"{protocol}: who wants to be let through once in {1 / UNSEEN:.0f} judgings gains {largest_unseen(looked_at):.2%}"


def _one_block(one: Checked) -> str:
    skipped = max(1, one.largest // 10)
    through = none_of(skipped, one.largest, one.whole_in_largest)
    return (
        f"{one.protocol}: {one.whole_in_largest} of {one.largest} calls of a block are checked whole; skipping {skipped} of them "
        f"goes unseen with probability {through:.2%}, unless rows are checked"
    )


def _few_percent() -> Iterator[str]:
    from kbench.referee.compare import FLOOR_ULP, K_EAGER, ROW_FLOOR

    yield (
        f"calls answered ahead of their time: where a call alone costs up to {clock.LONE_SHARE:.0%} and {clock.LONE_US:.0f} us more "
        f"than one of many nothing is charged, since an honest kernel's does too; nor what eager's costs more, up to "
        f"{clock.EXCUSED_US / 1000:.0f} ms or a call of eager's; beyond that all of it"
    )
    yield f"work that shrinks in large blocks is a verdict from {clock.SHRINKS}x on, in every pair"
    yield f"an error up to {K_EAGER:.0f} times eager's own, plus {FLOOR_ULP:.0f} ulp of rms(y), is within budget"
    yield f"in a row of a call that is not checked whole, plus {ROW_FLOOR:.0e} of it: one row's sum has nothing to average it"
    yield "what is told as faster without an interval above 1 may be noise: kbench doctor --calibrate measures how much"


def _short_calls() -> Iterator[str]:
    longest_us = clock.MAX_CALLS * SHORT_CALL_US
    share = GPU_JITTER_US / longest_us
    yield f"below {clock.LATENCY_BOUND_US:.0f} us a call is marked latency-bound: what is timed is launching"
    yield (
        f"a block has at most {clock.MAX_CALLS} calls, so one of {SHORT_CALL_US:.0f} us calls lasts {longest_us / 1000:.1f} ms: "
        f"{GPU_JITTER_US:.0f} us of jitter are {share:.1%} of it"
    )


def _going_on() -> Iterator[str]:
    from kbench.devices import cuda
    from kbench.referee import judging

    yield (
        f"while inputs come in: {cuda.HELD_US:.0f} us and {cuda.HELD_SHARE:.0%} of what bringing them takes are not told from noise; "
        f"between done and the reading of outputs: {cuda.LATE_US:.0f} us and {cuda.LATE_SHARE:.1%} of it"
    )
    yield f"a full block lasts {cuda.Cuda.block_us / 1000:.0f} ms where memory holds as many calls"
    yield f"references that it slows by less than {judging.SLOWED_BESIDE - 1:.0%} beside the candidate are not told from warm ones"


def _provenance() -> Iterator[str]:
    yield "traces are what the candidate's own process tells; correctness and time do not rest on them, --policy does"
    yield (
        f"a decoy beside a library that works as long as for the reference counts as own work under --policy custom from "
        f"{1 - provenance.MOSTLY_LIBRARY:.0%} of a call's time on: it costs what it hides"
    )
    yield "a candidate that knows the trace by its stack can run its own kernel there alone, and the library everywhere else"
    yield "a library that is called by another way than PyTorch's operators (BLAS through ctypes, numpy) counts as own code"
