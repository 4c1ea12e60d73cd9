"""Everything that one problem needs on the bench, kept while candidates of that problem are judged: its description,
the oracle, and the reference workers.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from kbench import devices, environment, sandbox
from kbench.devices import Area, Device
from kbench.errors import ProblemError, RefereeError
from kbench.referee import clock
from kbench.referee.case import TORCH_DTYPE, ProblemCase
from kbench.referee.layout import Layout, lay_out
from kbench.referee.oracle import Oracle
from kbench.referee.references import References, SubServer
from kbench.referee.wire import Tamper, TimedOut, WorkerFailed, WorkerGone
from kbench.referee.worker import Worker
from kbench.types import FailedCall, Precision

WORKER_MEMORY_SHARE = 0.5
DECOY_SLOTS = 2
BRINGINGS = 3
SMALLEST = 4  # values of K that are there beside the planned ones, for candidates that are slow
REFERENCE_LIMIT_S = 300.0  # torch.compile among them


def new_seed() -> int:
    return secrets.randbits(48)


class Bench:
    """Raises ProblemError where the problem cannot be judged, RefereeError where the machinery failed."""

    def __init__(self, problem: ProblemCase, references: References, scratch: Path, device: Device) -> None:
        self.problem, self.references, self.scratch, self.device = problem, references, scratch, device
        # Inputs lie in one place for every side. Where a candidate's work may go on while it is stopped it has a place of its
        # own, so that it does not see what others get; candidates and references change places from pair to pair.
        first = device.area("region")
        self.regions = (first, device.area("further") if device.goes_on else first)
        self.vigils_us: dict[int, float] = {}  # K -> how long the device is watched after done, where that is known
        self.workers: dict[tuple[str, int], Worker] = {}
        self.failures: dict[str, str] = {}
        self.seconds: dict[str, float] = {}  # what setting up took
        self.canaries_us: list[float] = []  # after blocks of the references
        self.memory_bytes = int(environment.available_bytes() * WORKER_MEMORY_SHARE)
        self.oracle: Oracle | None = None
        self.telltales: list[str] = []  # of the problem's weights, once a set was made that needed them

    def prepare(self, compiled: bool) -> None:
        """Describes the problem and lays out the shared areas; `compiled` says that torch.compile will be wanted."""
        started = time.monotonic()
        self.references.box.wait_ready()
        self.seconds["reference sandbox"] = time.monotonic() - started
        compiling = self.references.compile_server() if compiled else None
        self.oracle = Oracle(self.references.box, self.scratch, self.device)
        self.path = self.references.add(self.problem.content_hash, self.problem.source)
        self.description = self.oracle.describe(self.problem, self.path, new_seed())
        self.seconds["description"] = time.monotonic() - started - self.seconds["reference sandbox"]
        if self.description["stochastic"]:
            raise ProblemError("forward is random: two calls on one input differ, so no kernel can be judged by it")
        if compiling is not None and not compiling.ready:  # its imports would disturb what is timed next
            compiling.wait_ready()
            self.description |= self.oracle.ask(do="time")
        self.seconds["torch.compile's imports"] = time.monotonic() - started - sum(self.seconds.values())
        started = time.monotonic()
        self.plan_memory()
        self.seconds["areas"] = time.monotonic() - started

    def plan_memory(self) -> None:
        """How many calls a block gets, how many answers are kept at once; then the areas."""
        assert self.oracle is not None
        small = lay_out(self.description, slots=1, checked=1)
        returned = sum(leaf.size_bytes for leaf in small.outputs)
        self.calls = clock.plan_calls(
            self.description["call_us"],
            self.device.calls_that_fit(small.slot_bytes, returned),
            self.device.block_us,
            self.device.least_calls,
        )
        self.layout: Layout = lay_out(
            self.description, self.calls[-1] + DECOY_SLOTS, self.device.checked_calls(small.expected_bytes)
        )
        self.oracle.map(self.layout, self.description["arguments"])
        for region in dict.fromkeys(self.regions):
            region.allocate(self.layout.region_bytes)
        self.bring_us = {
            calls: self.bring_alone_us(calls) for calls in {*self.calls, *range(1, min(self.calls[-1], SMALLEST) + 1)}
        }

    def bring(self, region: Area, slots: Sequence[int]) -> float:
        """The inputs of a block from staging into a region, and a flush; the time on the device, in us."""
        return self.device.bring(lambda: self.copy(region, slots), len(slots))

    def copy(self, region: Area, slots: Sequence[int]) -> None:
        for slot in slots:
            devices.copy(region, self.staging, self.layout.slots[slot], self.layout.slot_bytes)

    def bring_alone_us(self, calls: int) -> float:
        """How long it takes while no candidate lives; nothing where a stopped candidate does nothing."""
        if not self.device.goes_on:
            return 0.0
        return min(self.bring(self.regions[0], range(calls)) for _ in range(BRINGINGS))

    @property
    def stateful(self) -> bool:
        return bool(self.description["mutated"])

    def region_of(self, side: str, pair: int) -> Area:
        return self.regions[(pair + (side == "candidate")) % 2]

    def load_order(
        self, side: str, pair: int, path: str, sha256: str, class_name: str, compile_mode: str | None
    ) -> dict[str, Any]:
        layout, description = self.layout, self.description
        return {
            "path": path, "sha256": sha256, "class_name": class_name, "compile": compile_mode,
            "init": description["init"], "init_leaves": [leaf.plain() for leaf in layout.init],
            "state": [leaf.plain() for leaf in layout.state], "leaves": [leaf.plain() for leaf in layout.leaves],
            "arguments": description["arguments"], "slots": list(layout.slots), "mode": self.mode,
            "precision": TORCH_DTYPE[self.problem.precision], "device": self.problem.device,
            "tf32": self.problem.precision is Precision.TF32,
            "construct_seed": new_seed(), "max_calls": len(layout.slots), "max_leaves": layout.max_leaves,
            "table_bytes": layout.table_bytes, "region": self.region_of(side, pair).ticket(),
        }  # fmt: skip

    @property
    def mode(self) -> str:
        """Mode to put a module into: a problem's own mode is what its fresh module is in."""
        if self.problem.mode != "own":
            return self.problem.mode
        return "train" if self.description["training"] else "eval"

    def new_worker(
        self, box: sandbox.Sandbox | SubServer, side: str, pair: int, limit_s: float = REFERENCE_LIMIT_S
    ) -> Worker:
        name, region = f"{side}-{os.urandom(4).hex()}", self.region_of(side, pair)
        alone = isinstance(box, sandbox.Sandbox) and box is not self.references.box
        return Worker(box, self.layout, self.device, region, self.scratch, name, self.memory_bytes, limit_s, alone)

    def reference(self, side: str, pair: int) -> Worker | None:
        """The reference worker of that side and pair, made on first use; None where the reference fails on that side."""
        if side in self.failures:
            return None
        if (side, pair) not in self.workers:
            worker = self.new_worker(self.references.server(side), side, pair)
            order = self.load_order(side, pair, self.path, "", "Model", "" if side == "compile" else None)
            try:
                worker.load(order)
            except (Tamper, WorkerGone, WorkerFailed, TimedOut) as error:
                worker.close()
                self.fail(side, str(error))
                return None
            self.workers[side, pair] = worker
        return self.workers[side, pair]

    def fail(self, side: str, reason: str) -> None:
        """Eager must work; a torch.compile that does not is recorded and its column stays empty."""
        if side == "eager":
            raise RefereeError(f"{self.problem.id}: the eager reference failed: {reason}")
        self.failures[side] = reason
        for key in [key for key in self.workers if key[0] == side]:
            self.workers.pop(key).close()

    def rest(self) -> None:
        """References give back what they hold, as after a pair; one that cannot takes all of them along, to be made anew."""
        try:
            for worker in self.workers.values():
                worker.rest()
        except (Tamper, WorkerGone, WorkerFailed, TimedOut):
            self.drop_references()

    def drop_references(self) -> None:
        for worker in self.workers.values():
            worker.close()
        self.workers = {}

    def close(self) -> None:
        self.drop_references()
        if self.oracle is not None:
            self.oracle.close()
        for region in dict.fromkeys(self.regions):
            region.close()

    @property
    def staging(self) -> Area:
        assert self.oracle is not None
        return self.oracle.staging

    def make_weights(self, seed: int, randomised: str) -> None:
        """A set of weights from a seed, into staging; the oracle answers with it from now on. Of what was constructed "all" is
        randomised, or the "telltales" alone (draws.telltales), or "nothing"."""
        assert self.oracle is not None
        targets = [leaf.plain() for leaf in (*self.layout.init, *self.layout.state)]
        self.telltales = self.oracle.ask(do="weights", seed=seed, randomised=randomised, targets=targets)["telltales"]

    def fill(self, recipes: dict[int, FailedCall]) -> None:
        """Fresh inputs into slots of staging."""
        assert self.oracle is not None
        items = [
            {"base": self.layout.slots[slot], "master_seed": r.master_seed, "seed": r.input_seed, "family": r.family,
             "near_seed": r.near_seed}
            for slot, r in recipes.items()
        ]  # fmt: skip
        self.oracle.ask(do="fill", slots=items)

    def expect(self, slots: Sequence[int], want: Sequence[int], state: bool) -> set[tuple[int, int]]:
        assert self.oracle is not None
        bases = [self.layout.slots[slot] for slot in slots]
        return self.oracle.expect(self.layout, bases, want, state, self.stateful)

    def expect_rows(self, slots: Sequence[int], rows: Sequence[int]) -> None:
        """Fills the row answers for row rows[i] of the call on slots[i]."""
        assert self.oracle is not None
        targets = [answer.plain() for answer in self.layout.row_answers]
        bases = [self.layout.slots[slot] for slot in slots]
        self.oracle.ask(do="rows", bases=bases, rows=list(rows), targets=targets)

    def wrong_places(self, index: tuple[int, int], chosen: torch.Tensor, k: float) -> tuple[int, int]:
        """How many of a candidate's indices name a wrong place, and the flat position of the first."""
        assert self.oracle is not None
        place, output = index
        leaf = self.layout.index_answers[output]
        self.oracle.value(leaf).copy_(chosen)
        answer = self.oracle.ask(do="places", place=place, leaf=output, answer=leaf.plain(), k=k)
        return int(answer["wrong"]), int(answer["first"])
