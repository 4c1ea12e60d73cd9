"""Tool calls through the real SDKs: what the model called, and how its calls, our results and its thoughts go back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kbench.models import Message, Reply, Request, Result, Tool
from kbench.types import Problem

from .agent_script import call
from .fake_provider import SIGNATURE, Answer, FakeProvider, close_all, fenced
from .test_providers import WAYS, open_way

TOOLS = (
    Tool(
        "Bash",
        "Runs a command.",
        {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    ),
    Tool("verify", "Checks it.", {"type": "object", "properties": {}}),
)
LONG = "echo " + "x" * 500  # in several pieces on every wire
CALLS = Answer("I look first.", "hm", calls=(call("Bash", command=LONG), call("verify")))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        opened.callback(close_all)
        yield opened


def start(stack: ExitStack, monkeypatch: pytest.MonkeyPatch, answer: Any) -> FakeProvider:
    fake = stack.enter_context(FakeProvider(answer))
    for name, value in fake.environment().items():
        monkeypatch.setenv(name, value)
    return fake


def ask(model: Any, *messages: Message, tools: tuple[Tool, ...] = TOOLS) -> Reply:
    problem = Problem("level1/1_a", 1, "a.py", "", "0")
    reply: Reply = model.generate(Request(problem, 0, "You write kernels.", messages, 0, tools))
    return reply


@pytest.mark.parametrize("way", WAYS)
def test_calls_come_whole_and_go_back_with_their_results_and_signed_thoughts(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    answers = iter([CALLS, Answer("Done.")])
    fake = start(stack, monkeypatch, lambda _: next(answers))
    model = open_way(way, fake)
    asked = Message("user", "Make it fast.")
    first = ask(model, asked)
    assert [(c.name, json.loads(c.arguments)) for c in first.calls] == [("Bash", {"command": LONG}), ("verify", {})]
    assert len({c.id for c in first.calls}) == 2
    assert first.text == "I look first."
    assert not first.refused
    results = tuple(Result(c.id, c.name, f"answer {at}", failed=at == 1) for at, c in enumerate(first.calls))
    last = ask(
        model, asked, Message("assistant", first.text, first.calls, own=first.own), Message("user", "", results=results)
    )
    assert last.text == "Done."
    assert last.calls == ()
    second = fake.asked[-1]
    said = json.dumps(second.body)
    assert said.count(LONG) == 1
    assert said.count("answer 0") == said.count("answer 1") == 1
    assert '"verify"' in said
    if way in ("anthropic", "responses"):
        assert SIGNATURE in said
    if way == "google":
        assert base64.b64encode(SIGNATURE.encode()).decode() in said
    if way == "anthropic":
        assert second.body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
        assert [block["is_error"] for block in second.body["messages"][-1]["content"]] == [False, True]
    if way in ("chat", "local"):
        ids = [m["tool_call_id"] for m in second.body["messages"] if m["role"] == "tool"]
        assert ids == [c.id for c in first.calls]


@pytest.mark.parametrize("way", WAYS)
def test_without_tools_nothing_of_them_is_sent_and_a_call_is_no_answer(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    fake = start(stack, monkeypatch, lambda _: Answer(tool="Bash"))
    reply = ask(open_way(way, fake), Message("user", "Make it fast."), tools=())
    assert reply.calls == ()
    assert reply.facts is not None
    assert "tool call" in reply.facts.note
    assert not {"tools", "include", "toolConfig"} & set(fake.asked[0].body)


@pytest.mark.parametrize("way", ["anthropic", "responses", "chat", "local"])
def test_arguments_that_are_no_json_come_as_they_are_and_can_be_sent_back(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    answers = iter([Answer(calls=(("Bash", '{"command": "ls'),)), Answer("Done.")])
    fake = start(stack, monkeypatch, lambda _: next(answers))
    model = open_way(way, fake)
    first = ask(model, Message("user", "Go."))
    (made,) = first.calls
    assert made.arguments == '{"command": "ls'
    said = Message("assistant", first.text, first.calls, own=first.own)
    answer = Message("user", "", results=(Result(made.id, "Bash", "not JSON", True),))
    assert ask(model, Message("user", "Go."), said, answer).text == "Done."


def test_what_tools_and_results_cost_is_part_of_the_worst_case(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = start(stack, monkeypatch, lambda _: Answer(fenced("")))
    model = open_way("anthropic", fake)
    plain = Request(Problem("level1/1_a", 1, "a.py", "", "0"), 0, "", (Message("user", "Go."),))
    results = (Result("1", "Bash", "x" * 10_000),)
    more = Request(plain.problem, 0, "", (*plain.messages, Message("user", "", results=results)), 0, TOOLS)
    least, most = (model.worst_case(request).tokens for request in (plain, more))
    assert least is not None
    assert most is not None
    assert most >= least + 10_000
