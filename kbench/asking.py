"""Generation: many requests in flight, each within the budget, each reply synced to the disk before anyone is told of it.

Workers take requests from a list and put what came of them into a bounded queue, from which the one who judges takes it.
Neither waits for the other but for that bound.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from kbench.budget import NOTHING, Amount, Budget
from kbench.errors import KBenchError, ModelUnavailable
from kbench.models import Reply, Request
from kbench.models.failures import Broken, Unanswered
from kbench.models.remote import Remote
from kbench.types import ReplyFacts, attempt_key

WAITING = 1024  # replies that may wait to be judged; each is a few hundred kB at most
BROKEN_TRIES = 6  # times that a reply is asked for again after it broke off
FIRST_PAUSE_S = 1.0  # before the first of them; twice as long before each further one
DRAIN_S = 60.0  # that replies in flight get to end, where a mistake of ours stops the run
# A thread that wrote a line to a file waits this long for the interpreter, and not 5 ms, ten times a reply
SWITCH_S = 0.0005
OUTAGE = 10  # failures in a row, over all requests, after which no more are sent


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a request: a reply, or the reason why there is none that is not the model's."""

    request: Request
    reply: Reply | None = None
    failure: str = ""
    facts: ReplyFacts | None = None  # of replies that broke off, where there is no whole one
    stored: bool = False  # the reply was there already


class Kept(Protocol):
    """Where replies are kept: found again, they are not asked for."""

    def find(self, request: Request) -> Reply | None: ...
    def keep(self, request: Request, reply: Reply) -> None: ...
    def settle(self, request: Request, reply: Reply) -> None: ...


class Asker:
    """Asks for one reply at a time, from any thread; shared by all workers."""

    def __init__(
        self, model: Remote, replies: Kept, budget: Budget, tell: Callable[[str], None], outage: int = OUTAGE
    ) -> None:
        self.model, self.replies, self.budget, self.tell = model, replies, budget, tell
        self.most_failures = outage
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.failures_in_a_row = 0
        self.outage = ""

    def ask(self, request: Request) -> Asked | None:
        """None where the budget is used up or the run is being stopped: nothing was asked."""
        stored = self.replies.find(request)
        if stored is not None:
            return Asked(request, stored, stored=True)
        broken: list[ReplyFacts] = []
        while not self.stop.is_set():
            worst = self.model.worst_case(request)
            if not self.budget.reserve(worst):
                return None
            try:
                reply = self._once(request, worst)
            except Broken as error:
                broken += [error.facts] if error.facts is not None else []
                if len(broken) > BROKEN_TRIES:
                    return self._failed(request, error, broken)
                self.tell(f"{error}; asked again")
                self.stop.wait(FIRST_PAUSE_S * 2 ** (len(broken) - 1))
            except ModelUnavailable as error:
                return self._failed(request, error, broken)
            else:
                return self._answered(request, reply, broken)
        return None

    def _once(self, request: Request, worst: Amount) -> Reply:
        """One request, with its line in the ledger before and after it."""
        key = attempt_key(request.problem.id, request.sample)
        number = self.budget.ledger.begin(key, request.turn, worst)
        charged, outcome = worst, "interrupted"
        try:
            reply = self.model.generate(request)
            assert reply.facts is not None
            charged, outcome = self.model.charge(reply.facts).or_at_most(worst), "replied"
            return reply
        except (Broken, Unanswered) as error:
            outcome = f"failed, counted at its worst: {error}"
            raise
        except KBenchError as error:
            charged, outcome = NOTHING, f"failed: {error}"
            raise
        finally:
            self.budget.ledger.end(number, charged, outcome)
            self.budget.settle(worst, charged)

    def _answered(self, request: Request, reply: Reply, broken: list[ReplyFacts]) -> Asked:
        with self.lock:
            self.failures_in_a_row = 0
        assert reply.facts is not None
        reply = replace(reply, facts=with_broken(reply.facts, broken))
        self.replies.keep(request, reply)
        return Asked(request, reply)

    def _failed(self, request: Request, error: Exception, broken: list[ReplyFacts]) -> Asked:
        with self.lock:
            self.failures_in_a_row += 1
            if self.failures_in_a_row >= self.most_failures and not self.outage:
                self.outage = f"{self.most_failures} requests in a row failed, the last with: {error}"
                self.stop.set()
        facts = with_broken(replace(broken[-1], latency_s=None), broken[:-1], at_end=True) if broken else None
        told = facts is not None and facts.tokens_input is not None  # else there is nothing to tell of what it cost
        return Asked(request, None, str(error), facts if told else None)


def with_broken(facts: ReplyFacts, broken: list[ReplyFacts], at_end: bool = False) -> ReplyFacts:
    """`facts` with what is known of the replies that broke off before it added; `at_end` where it broke off itself."""
    count = len(broken) + at_end
    if not count:
        return facts

    def total(name: str) -> float | int | None:
        known = [v for f in (facts, *broken) if (v := getattr(f, name)) is not None]
        return sum(known) if getattr(facts, name) is not None or (at_end and known) else None

    names: tuple[str, ...] = (
        "tokens_input",
        "tokens_output",
        "tokens_reasoning",
        "tokens_cached",
        "cost_usd",
        "retries",
    )
    summed: dict[str, float | int | None] = {name: total(name) for name in names}
    return replace(facts, broken=count, **summed)  # type: ignore[arg-type]  # ints stay ints


class Generation:
    """Workers over an Asker. Use as a context manager: leaving it stops them, without waiting for what is in flight."""

    def __init__(self, asker: Asker, connections: int) -> None:
        self.asker, self.connections = asker, connections
        self.switched_s = sys.getswitchinterval()
        self.todo: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self.done: queue.Queue[Asked | Request | BaseException] = queue.Queue(WAITING)
        self.outstanding = 0
        self.left: list[Request] = []  # not asked for: the budget was used up, or the run was stopped

    def __enter__(self) -> Generation:
        sys.setswitchinterval(SWITCH_S)
        for _ in range(self.connections):
            threading.Thread(target=self._work, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self.switched_s)
        self.asker.stop.set()
        for _worker in range(self.connections):
            self.todo.put(None)

    def add(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.outstanding += 1
            self.todo.put(request)

    def wait(self, limit_s: float) -> None:
        """Until something has come in, or for so long."""
        end = time.monotonic() + limit_s
        while self.outstanding and self.done.empty() and time.monotonic() < end:
            time.sleep(0.01)

    def batches(self) -> Iterator[list[Asked]]:
        """What has come in since the last time, at least one, until nothing is outstanding.

        Raises what a worker met, when what was in flight beside it has ended too: those replies are paid for, and kept.
        """
        while self.outstanding:
            came = [self.done.get()]
            while not self.done.empty():
                came.append(self.done.get())
            self.outstanding -= len(came)
            for item in came:
                if isinstance(item, BaseException):
                    self._drain(DRAIN_S)
                    raise item
            self.left += [item for item in came if isinstance(item, Request)]
            batch = [item for item in came if isinstance(item, Asked)]
            for asked in batch:
                if asked.reply is not None:
                    self.asker.replies.settle(asked.request, asked.reply)
            if batch:
                yield batch

    def _drain(self, limit_s: float) -> None:
        end = time.monotonic() + limit_s
        while self.outstanding and (left := end - time.monotonic()) > 0:
            try:
                self.done.get(timeout=left)
            except queue.Empty:
                return
            self.outstanding -= 1

    def _work(self) -> None:
        while (request := self.todo.get()) is not None:
            try:
                asked = None if self.asker.stop.is_set() else self.asker.ask(request)
            except BaseException as error:
                self.asker.stop.set()  # no further request is burnt on the same mistake
                self.done.put(error)
            else:
                self.done.put(request if asked is None else asked)
