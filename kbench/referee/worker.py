"""A worker as the lane sees it: spawned, frozen, thawed for a block, read while it stands still, and ended."""

from __future__ import annotations

import ctypes
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbench import devices, freezer, sandbox
from kbench.candidate import protocol
from kbench.devices import Area, Device, Hands, cpu
from kbench.processes import spawn
from kbench.referee.layout import Layout
from kbench.referee.references import SubServer
from kbench.referee.wire import Line, Tamper, TimedOut

WATCH_S = 0.05  # how often a running block looks whether the worker still lives
LOG_BYTES = 1 << 20
FILE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """One block as it ran: the lane's own time, and the table as it stood when everything was frozen."""

    elapsed_us: float
    slots: tuple[int, ...]
    table: bytes


class Worker:
    """One candidate or reference process. `freezer` and `table` are its own and end with it; `region`, where its inputs come, is not."""

    def __init__(
        self, box: sandbox.Sandbox | SubServer, layout: Layout, device: Device, region: Area, folder: Path, name: str,
        memory_bytes: int, limit_s: float, alone: bool,
    ) -> None:  # fmt: skip
        """`limit_s` is how long it may take to answer, or for a block; `alone` says that nobody else runs in its sandbox."""
        self.layout, self.device, self.region, self.limit_s = layout, device, region, limit_s
        self.go = cpu.Region(f"go-{name}", protocol.GO_BYTES, readable_only=True)
        self.table = cpu.Region(f"table-{name}", layout.table_bytes)
        self.freezer = freezer.create(f"kbench-{os.getpid()}-{name}", memory_bytes, alone)
        self.log_path = folder / f"{name}.log"
        log = os.open(self.log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        limits = {
            "RLIMIT_FSIZE": FILE_BYTES, "RLIMIT_NPROC": 1024, "RLIMIT_NOFILE": 1024, "RLIMIT_CORE": 0,
        }  # fmt: skip
        if device.name == "cpu":  # a CUDA process reserves more addresses than any machine has memory
            limits["RLIMIT_DATA"] = memory_bytes
        try:
            request = {"role": "worker", "limits": limits}
            spawned = spawn(box, request, [self.go.fd, self.table.fd, self.region.fd], log, self.freezer)
        except BaseException:
            self._release()
            raise
        finally:
            os.close(log)
        self.pid, self.line = spawned.pid, Line(spawned.channel)
        self.hands: Hands = device.hands(self.pid, region)
        self.frozen = self.armed = self.series = self.clone = False
        self.weights = ""

    def load(self, order: dict[str, Any]) -> None:
        self.weights = self.ask("load", **order)["weights"]
        self.freeze()

    def ask(self, do: str, **order: Any) -> dict[str, Any]:
        """Lets it go, and gives it something to do, for which an arming is ended; it is not frozen when this returns."""
        self.listen()
        self.thaw()
        return self.line.ask({"do": do, **order}, self.limit_s)

    def put_weights(self, staging: Area, seed: int) -> None:
        self.listen()
        devices.copy(self.region, staging, 0, self.layout.weight_bytes)
        self.device.settle()
        self.ask("weights", **({"construct_seed": seed} if self.weights == "by_seed" else {}))
        self.freeze()

    def arm(self, series: bool = False) -> None:
        """Everything that can be done before a block, or a series of them that ends with one of no call. The next block's
        inputs must not lie in the region yet.

        Once armed it hears nothing until its block: a round that is played again finds it so, and a reference whose round
        ended with the candidate's refusal.
        """
        self.ask("arm", clone=self.clone, spin=self.device.spins, series=series)
        self.armed, self.series = True, series
        self.freeze()

    def block(
        self, slots: Sequence[int], prepare: Callable[[], None], then: Callable[[], None] = lambda: None
    ) -> Block:
        """Runs one block of len(slots) calls, once armed. `prepare` fills the region, while nothing of the worker runs;
        `then` is what follows done at once.

        The inputs, K and the order appear while it is frozen, and letting it go is what starts the clock: there is no
        moment at which it could have worked on them unseen. It is frozen again when this returns.
        """
        self._clear_table(len(slots))
        prepare()
        self.armed = self.series and len(slots) > 0
        sequence = random.SystemRandom().randrange(1, 1 << 32)
        seen = protocol.load_word(self.table.address)
        order = (ctypes.c_uint32 * len(slots))(*slots)
        ctypes.memmove(self.go.address + protocol.GO_ORDER_OFFSET, order, ctypes.sizeof(order))
        protocol.store_word(self.go.address + 4, len(slots))
        protocol.store_word(self.go.address, sequence)
        protocol.wake_word(self.go.address)
        started = time.perf_counter_ns()
        self.thaw()
        ended = self._wait_done(sequence, seen, started)
        then()
        self.freeze()
        self.line.quiet()
        return Block((ended - started) / 1e3, tuple(slots), self.table.bytes(0, self.layout.table_bytes))

    def listen(self) -> None:
        """Ends an arming that no block followed, or a series, by a block of no call."""
        if self.armed:
            self.block((), lambda: None)

    def _clear_table(self, calls: int) -> None:
        row = protocol.row_bytes(self.layout.max_leaves)
        for call in range(calls):
            protocol.store_word(self.table.address + protocol.TABLE_ROWS_OFFSET + call * row, protocol.UNPUBLISHED)

    def _wait_done(self, sequence: int, seen: int, started: int) -> int:
        deadline = started + int(self.limit_s * 1e9)
        while True:
            word = self._next_word(seen)
            now = time.perf_counter_ns()
            if word == sequence:
                return now
            if word != seen:
                raise Tamper("something other than the worker program wrote the done word")
            self.line.quiet()
            if now > deadline:
                raise TimedOut(f"a block did not end within {self.limit_s:.0f} s")

    def _next_word(self, seen: int) -> int:
        """The done word, once it differs from `seen` or WATCH_S have passed."""
        if not self.device.spins:
            return protocol.wait_word(self.table.address, seen, WATCH_S)
        limit = time.perf_counter_ns() + int(WATCH_S * 1e9)
        word = ctypes.c_uint32.from_address(self.table.address)
        while word.value == seen and time.perf_counter_ns() < limit:
            pass
        return word.value

    def learn_segments(self, addresses: Sequence[int]) -> bool:
        """Asks the worker where its memory lies and maps what is new; whether anything is. Tamper where that cannot be."""
        answer = self.ask("segments", addresses=list(addresses)[:256])
        self.freeze()
        try:
            return self.hands.learn(answer["segments"])
        except (KeyError, ValueError, OSError) as error:
            raise Tamper(f"the worker's account of its memory cannot be: {error}") from error

    def trace(self) -> dict[str, float]:
        """Microseconds of one call by kind of operator, as its own profiler tells them."""
        answer = self.ask("trace")
        self.freeze()
        found: dict[str, float] = answer.get("operators_us", {})
        return found

    def rest(self) -> None:
        """Between two uses: gives memory back."""
        self.hands.close()
        self.ask("rest")
        self.freeze()

    def freeze(self) -> None:
        if not self.frozen and not self.freezer.freeze():
            raise Tamper("the worker's processes could not be stopped")
        self.frozen = True

    def thaw(self) -> None:
        self.frozen = False
        self.freezer.thaw()

    def log_tail(self) -> str:
        with open(self.log_path, "rb") as log:
            log.seek(max(0, os.path.getsize(self.log_path) - 4000))
            return log.read().decode(errors="replace")

    def close(self) -> None:
        self.hands.close()
        self._release()
        self.line.channel.close()

    def _release(self) -> None:
        self.freezer.close()
        for region in (self.go, self.table):
            region.close()
        if self.log_path.exists():
            os.truncate(self.log_path, min(LOG_BYTES, self.log_path.stat().st_size))
