"""One block of a worker, and the two stretches in which it stands stopped and could gain by working all the same.

Stopping a process does not stop what it launched on a GPU. From a block's first input until the worker is let go, and from done
until its outputs are read, the lane keeps the device at work of its own, of known length: what else runs shows as delay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from kbench import devices
from kbench.referee.bench import Bench
from kbench.referee.stages import Stages
from kbench.referee.worker import Block, Worker

BUSY, MOVED = "the device was still busy after done", "outputs lie in memory that was not mapped yet"
EARLY = "something ran on the device while the inputs came in and everything stood stopped"
UNSEEN = "outputs were not read before the lane's own work on the device had ended"
VIGIL_US, VIGIL_CALL_US = 5000.0, 100.0  # until a block's outputs are read, to begin with, and more a call
VIGIL_SPARE = 1.5  # times as long as it took


class Again(Exception):
    """A round that says nothing: it is played again on fresh inputs. Carries whose block it was, and why."""

    def __init__(self, side: str, reason: str) -> None:
        super().__init__(reason)
        self.side, self.reason = side, reason


class Watch:
    """Runs the blocks of one judging; only those of the candidate are watched for longer than a canary takes."""

    def __init__(self, bench: Bench, stage: Stages) -> None:
        self.bench, self.device, self.stage = bench, bench.device, stage
        self.done_ns = 0
        self.vigil: devices.Vigil

    def block(self, side: str, worker: Worker, leading: Sequence[int], timed: Sequence[int]) -> Block:
        """The block of a round, after the calls that lead a lone one. It starts cold but for those."""

        def cold() -> None:
            with self.stage("inputs"):
                slots = leading[:1] or timed
                took_us, alone_us = self.bench.bring(worker.region, slots), self.bench.bring_us[len(slots)]
                if side == "candidate" and self.device.was_held_up(took_us, alone_us):
                    raise Again(side, f"{EARLY} ({took_us:.0f} us, alone {alone_us:.0f} us)")

        def then() -> None:
            self.done_ns = time.perf_counter_ns()
            self.vigil = self.device.vigil(self.length_us(len(timed)) if side == "candidate" else 0.0)

        with self.stage(f"blocks of {side}"):
            for slot in leading:
                worker.block([slot], cold if slot == leading[0] else partial(self.bring_warm, worker, slot))
            block = worker.block(timed, partial(self.bring_warm, worker, timed[0]) if leading else cold, then)
        if self.device.is_late(self.vigil.probe_us, self.bench.canaries_us):
            self.device.wait_idle()
            raise Again(side, f"{BUSY} (the canary took {self.vigil.probe_us:.0f} us)")
        if side != "candidate":
            self.bench.canaries_us.append(self.vigil.probe_us)
        return block

    def bring_warm(self, worker: Worker, slot: int) -> None:
        """The inputs of one call, into caches that keep what they hold."""
        self.bench.copy(worker.region, [slot])
        self.device.settle()

    def length_us(self, calls: int) -> float:
        return self.bench.vigils_us.get(calls, VIGIL_US + calls * VIGIL_CALL_US)

    def all_taken(self, calls: int) -> None:
        """Called when every output that is looked at is on its way here. Again where that was not under the lane's eyes."""
        known = self.bench.vigils_us
        if self.vigil.has_ended():
            known[calls] = 2 * self.length_us(calls)
            raise Again("candidate", UNSEEN)
        needed_us = (time.perf_counter_ns() - self.done_ns) / 1e3
        known[calls] = max(VIGIL_SPARE * needed_us, 0.8 * self.length_us(calls))
        if self.vigil.was_held_up():
            late_us = self.vigil.late_us()
            self.device.wait_idle()
            raise Again("candidate", f"{BUSY} (own work took {late_us:.0f} us longer)")
