"""The lane's end of a worker's socket: a fresh nonce an order, one answer each, and nothing that was not asked for."""

from __future__ import annotations

import math
import secrets
import select
import socket
import time
from typing import Any

from kbench.candidate import protocol

MAX_TEXT = 24_000
WEIGHT_WORDS = ("by_name", "by_order", "by_seed", "stateless")


class Tamper(Exception):
    """The worker said or wrote something that an honest worker program never does."""


class WorkerGone(Exception):
    """The worker's end of the socket closed before it answered."""


class WorkerFailed(Exception):
    """The worker reported an exception: the candidate's own words."""

    def __init__(self, stage: str, text: str, last: str) -> None:
        super().__init__(last)
        self.stage, self.text, self.last = stage, text, last


class TimedOut(Exception):
    """No answer within the limit."""


def check_answer(message: dict[str, Any], nonce: str) -> dict[str, Any]:
    """The message, if it is one that a worker may send as the answer to the order with that nonce; else Tamper.

    Raises WorkerFailed for a well-formed error report.
    """
    if message.get("nonce") != nonce:
        raise Tamper(f"a message with a stale or guessed nonce: {str(message)[:80]}")
    kind = message.get("say")
    if kind == "error" and set(message) == {"say", "nonce", "stage", "text", "last"}:
        texts = [message[key] for key in ("stage", "text", "last")]
        if all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts):
            raise WorkerFailed(*texts)
    known = kind == "ready" and set(message) <= {"say", "nonce", "weights", "operators_us", "segments"}
    told = _figures(message.get("operators_us", {})) and ("segments" not in message or _segments(message["segments"]))
    if known and told and message.get("weights", "by_name") in WEIGHT_WORDS:
        return message
    raise Tamper(f"a message that no worker sends: {str(message)[:80]}")


def _figures(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) > 10_000:
        return False
    numbers = (isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in value.values())
    return all(numbers)


def _segments(value: Any) -> bool:
    """{"held": [[address, handle], ...], "region": address}: addresses of 64 bits, handles of 64 bytes in hex."""
    if not isinstance(value, dict) or set(value) != {"held", "region"} or not _address(value["region"]):
        return False
    held = value["held"]
    return isinstance(held, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _address(pair[0]) and _handle(pair[1]) for pair in held
    )


def _address(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def _handle(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 128 and all(letter in "0123456789abcdef" for letter in value)


class Line:
    """One worker's socket. Every method raises Tamper, WorkerGone, WorkerFailed or TimedOut, and nothing else."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel, self.buffer, self.nonce = channel, b"", ""
        channel.setblocking(False)

    def order(self, message: dict[str, Any]) -> None:
        self.nonce = secrets.token_hex(8)
        body = {**message, "nonce": self.nonce}
        self.channel.setblocking(True)
        try:
            self.channel.settimeout(10.0)
            protocol.send(self.channel, body)
        except OSError as error:
            raise WorkerGone(f"the worker does not read its orders: {error}") from error
        finally:
            self.channel.setblocking(False)

    def answer(self, limit_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + limit_s
        while True:
            message = self._next_message()
            if message is not None:
                return check_answer(message, self.nonce)
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut(f"no answer within {limit_s:.0f} s")
            self._read(left)

    def ask(self, message: dict[str, Any], limit_s: float) -> dict[str, Any]:
        self.order(message)
        return self.answer(limit_s)

    def quiet(self) -> None:
        """Nothing may lie unread while no answer is due. An error report is heard; anything else is Tamper."""
        gone = None
        try:
            while select.select([self.channel], [], [], 0)[0]:
                self._read(0)
        except WorkerGone as error:  # its last words may lie in the buffer
            gone = error
        if self.buffer:
            message = self._next_message()
            if message is None:
                raise Tamper(f"stray bytes on the wire: {self.buffer[:40]!r}")
            check_answer(message, self.nonce)
            raise Tamper(f"a message that nothing asked for: {str(message)[:80]}")
        if gone is not None:
            raise gone

    def _read(self, limit_s: float) -> None:
        if not select.select([self.channel], [], [], limit_s)[0]:
            return
        try:
            part = self.channel.recv(1 << 16)
        except ConnectionError:
            part = b""
        except BlockingIOError:
            return
        if not part:
            raise WorkerGone("the worker ended without an answer")
        self.buffer += part
        if len(self.buffer) > 2 * protocol.MAX_MESSAGE_BYTES:
            raise Tamper(f"{len(self.buffer)} bytes that nothing asked for")

    def _next_message(self) -> dict[str, Any] | None:
        if len(self.buffer) < 4:
            return None
        length = int.from_bytes(self.buffer[:4], "big")
        if length > protocol.MAX_MESSAGE_BYTES:
            raise Tamper(f"a frame of {length} bytes")
        if len(self.buffer) < 4 + length:
            return None
        body, self.buffer = self.buffer[4 : 4 + length], self.buffer[4 + length :]
        try:
            return protocol.parse(body)
        except protocol.WireError as error:
            raise Tamper(f"a frame that is {error}") from error
