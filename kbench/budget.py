"""What a run may spend and has spent: money, tokens, time. The worst case is reserved before a request, across resumes.

requests.jsonl in the run's folder has a line when a request is about to be sent and one when it has ended. A request that a
kill cut off counts in full: nobody knows what it cost.
"""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kbench.errors import ConfigError
from kbench.files import cannot_write
from kbench.words import dollars_at_most

LEDGER = "requests.jsonl"


@dataclass(frozen=True, slots=True)
class Limits:
    """None is no limit."""

    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and US dollars of one request or of many; None where not known."""

    tokens: int | None = 0
    cost_usd: float | None = 0.0

    def or_at_most(self, worst: Amount) -> Amount:
        """What is not known is taken at its worst."""
        return Amount(
            worst.tokens if self.tokens is None else self.tokens,
            worst.cost_usd if self.cost_usd is None else self.cost_usd,
        )


NOTHING = Amount()


class _Lines:
    """A file that whole lines are appended to, by several threads without a lock; closed when the last of them lets go of it."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


class Ledger:
    """The one writer of requests.jsonl. Safe to call from several threads."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        self.lock = threading.Lock()
        self.spent, self.seconds_before, self.count = _read(self.path)
        try:
            self.file: _Lines | None = _Lines(self.path)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.started = time.time()
        self._write(b"\n" if _torn(self.path) else b"", {"session": self.started})

    def begin(self, attempt: str, turn: int, worst: Amount) -> int:
        """The number of a request that is about to be sent."""
        with self.lock:
            self.count += 1
            number = self.count
        self._write(b"", {"request": number, "attempt": attempt, "turn": turn, "at_most": _plain(worst)})
        return number

    def end(self, number: int, charged: Amount, outcome: str) -> None:
        self._write(b"", {"request": number, "charged": _plain(charged), "outcome": outcome})

    def seconds(self) -> float:
        """Of this session and of those before it."""
        return self.seconds_before + time.time() - self.started

    def close(self) -> None:
        self._write(b"", {"closed": True})
        self.file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, before: bytes, line: dict[str, Any]) -> None:
        file = self.file  # held here: what another thread closes stays open until this line is written
        if file is None:  # a request that ended after an interrupt
            return
        try:
            os.write(file.descriptor, before + json.dumps({**line, "at": round(time.time(), 3)}).encode() + b"\n")
        except OSError as error:
            raise cannot_write(self.path, error) from error


class Budget:
    """Holds requests back so that what is spent and what is in flight at its worst stay within the limits.

    Safe to call from several threads. `reached` says which limit stopped it, None while none did.
    """

    def __init__(self, limits: Limits, ledger: Ledger) -> None:
        self.limits, self.ledger = limits, ledger
        self.spent = ledger.spent
        self.held: list[Amount] = []
        self.reached: str | None = None
        self.changed = threading.Condition()

    def reserve(self, worst: Amount) -> bool:
        """Waits until `worst` fits beside what is in flight; False where it never will, and for every later request.

        ConfigError where a limit cannot be enforced, since the worst case is not known.
        """
        self._enforceable(worst)
        with self.changed:
            while self.reached is None:
                if self.out_of_time() or self._fits(worst):
                    break
                if not self.held:
                    self.reached = self._which(worst)
                    self.changed.notify_all()
                    break
                self.changed.wait(1.0)
            if self.reached is not None:
                return False
            self.held.append(worst)
            return True

    def settle(self, worst: Amount, charged: Amount) -> None:
        with self.changed:
            self.held.remove(worst)
            self.spent = _sum(self.spent, charged)
            self.changed.notify_all()

    def out_of_time(self) -> bool:
        if self.limits.seconds is not None and self.ledger.seconds() >= self.limits.seconds and self.reached is None:
            self.reached = f"--max-time {self.limits.seconds:g} s; a longer one lets it go on"
        return self.reached is not None and self.reached.startswith("--max-time")

    def _enforceable(self, worst: Amount) -> None:
        if self.limits.cost_usd is not None and worst.cost_usd is None:
            raise ConfigError(
                "--max-cost cannot be enforced: the price or the token limit of this model is not known; drop --max-cost, "
                "or use --max-tokens-total with --max-tokens"
            )
        if self.limits.tokens is not None and worst.tokens is None:
            raise ConfigError(
                "--max-tokens-total cannot be enforced: a reply has no token limit; give --max-tokens too"
            )

    def _fits(self, worst: Amount) -> bool:
        return self._over(worst, self.held) is None

    def _over(self, worst: Amount, held: list[Amount]) -> str | None:
        """The flag whose limit it would pass."""
        cost = (self.spent.cost_usd or 0) + sum(a.cost_usd or 0 for a in [*held, worst])
        tokens = (self.spent.tokens or 0) + sum(a.tokens or 0 for a in [*held, worst])
        if self.limits.cost_usd is not None and cost > self.limits.cost_usd:
            return "--max-cost"
        if self.limits.tokens is not None and tokens > self.limits.tokens:
            return "--max-tokens-total"
        return None

    def _which(self, worst: Amount) -> str:
        spent = f"${self.spent.cost_usd or 0:.4f} and {self.spent.tokens or 0} tokens are spent"
        needs = f"{worst.tokens} tokens" if worst.cost_usd is None else dollars_at_most(worst.cost_usd)
        flag, least = self._over(worst, []), _sum(self.spent, worst)
        if flag == "--max-cost":
            limit, enough = f"{self.limits.cost_usd:g}", dollars_at_most(least.cost_usd or 0).removeprefix("$")
        else:
            limit, enough = str(self.limits.tokens), str(least.tokens)
        return f"{flag} {limit}: {spent}, and the next request can take {needs}; {flag} {enough} or more lets it go on"


def _sum(one: Amount, other: Amount) -> Amount:
    """Where one of them is not known the other is what is known."""
    return Amount((one.tokens or 0) + (other.tokens or 0), (one.cost_usd or 0) + (other.cost_usd or 0))


def _plain(amount: Amount) -> dict[str, float | int | None]:
    return {"tokens": amount.tokens, "cost_usd": amount.cost_usd}


def _read(path: Path) -> tuple[Amount, float, int]:
    """What the sessions before this one spent, how long they ran, and how many requests they made. A torn line is passed over."""
    spent, seconds, count, open_requests = NOTHING, 0.0, 0, dict[int, Amount]()
    started = last = 0.0
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "session" in entry:
            seconds += last - started
            started = entry["session"]
        last = entry["at"]
        if "at_most" in entry:
            count = max(count, entry["request"])
            open_requests[entry["request"]] = Amount(**entry["at_most"])
        elif "charged" in entry:
            open_requests.pop(entry["request"], None)
            spent = _sum(spent, Amount(**entry["charged"]))
    for worst in open_requests.values():
        spent = _sum(spent, worst)
    return spent, seconds + last - started, count


def _torn(path: Path) -> bool:
    data = path.read_bytes()
    return bool(data) and not data.endswith(b"\n")
