"""The wire believes nothing: whatever a worker sends, the lane raises one of four exceptions or takes a legal answer."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbench.candidate import protocol
from kbench.referee.wire import Line, Tamper, TimedOut, WorkerFailed, WorkerGone

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
WORDS = st.sampled_from(
    ["ready", "error", "done", "weights", "say", "nonce", "stage", "text", "last", "operators_us", "by_name"]
)
NEAR_LEGAL = st.dictionaries(WORDS, WORDS | JSON, max_size=6)


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from(["noise", "json", "near", "lying length"]))
    if kind == "noise":
        return draw(st.binary(max_size=200))
    if kind == "lying length":
        return struct.pack(">I", draw(st.integers(0, 2**32 - 1))) + draw(st.binary(max_size=50))
    value = draw(JSON if kind == "json" else NEAR_LEGAL)
    return framed(json.dumps(value).encode()) + draw(st.binary(max_size=8))


@settings(max_examples=10_000, deadline=None)
@given(streams())
def test_ten_thousand_fuzzed_streams_never_pass_and_never_crash(stream: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = Line(ours)
        line.order({"do": "arm"})
        theirs.sendall(stream)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises((Tamper, WorkerGone, WorkerFailed, TimedOut)):
            line.answer(0.5)


@contextmanager
def pair() -> Iterator[tuple[Line, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Line(ours), theirs


def test_the_asked_for_answer_is_taken() -> None:
    with pair() as (line, theirs):
        line.order({"do": "load"})
        order = protocol.receive(theirs)
        assert order is not None
        protocol.send(theirs, {"say": "ready", "nonce": order["nonce"], "weights": "by_name"})
        assert line.answer(1.0)["weights"] == "by_name"


def test_an_answer_with_an_old_nonce_is_tamper() -> None:
    with pair() as (line, theirs):
        line.order({"do": "load"})
        first = protocol.receive(theirs)
        assert first is not None
        protocol.send(theirs, {"say": "ready", "nonce": first["nonce"]})
        line.answer(1.0)
        line.order({"do": "arm"})
        protocol.send(theirs, {"say": "ready", "nonce": first["nonce"]})
        with pytest.raises(Tamper):
            line.answer(1.0)


def test_a_message_that_nothing_asked_for_is_tamper() -> None:
    with pair() as (line, theirs):
        line.order({"do": "load"})
        order = protocol.receive(theirs)
        assert order is not None
        protocol.send(theirs, {"say": "ready", "nonce": order["nonce"]})
        protocol.send(theirs, {"say": "ready", "nonce": order["nonce"]})
        line.answer(1.0)
        with pytest.raises(Tamper):
            line.quiet()


def test_silence_is_a_timeout_and_a_closed_socket_is_a_death() -> None:
    with pair() as (line, theirs):
        line.order({"do": "load"})
        with pytest.raises(TimedOut):
            line.answer(0.05)
        theirs.close()
        with pytest.raises(WorkerGone):
            line.answer(1.0)


def test_dribbled_bytes_do_not_stretch_the_limit() -> None:
    with pair() as (line, theirs):
        line.order({"do": "load"})
        theirs.sendall(b"\0\0\0\x40{")
        with pytest.raises(TimedOut):
            line.answer(0.05)


def test_profiler_figures_that_are_no_finite_numbers_are_tamper() -> None:
    for value in ("1", None, float("inf"), float("nan"), True):
        with pair() as (line, theirs):
            line.order({"do": "trace"})
            order = protocol.receive(theirs)
            assert order is not None
            protocol.send(theirs, {"say": "ready", "nonce": order["nonce"], "operators_us": {"aten::add": value}})
            with pytest.raises(Tamper):
                line.answer(1.0)


def test_the_last_words_of_a_worker_that_ended_are_heard() -> None:
    with pair() as (line, theirs):
        line.order({"do": "arm"})
        order = protocol.receive(theirs)
        assert order is not None
        words = {"say": "error", "nonce": order["nonce"], "stage": "arm", "text": "trace", "last": "ValueError: no"}
        protocol.send(theirs, words)
        theirs.close()
        with pytest.raises(WorkerFailed, match="ValueError: no"):
            line.quiet()


def test_what_a_worker_says_can_be_printed() -> None:
    text = json.dumps({"text": "\ud800a\x1b[2Jb\x07\n\tc", "list": ["\udfff"]}).encode()
    message = protocol.parse(text)
    assert message == {"text": "?a[2Jb\n\tc", "list": ["?"]}
    json.dumps(message, ensure_ascii=False).encode()
