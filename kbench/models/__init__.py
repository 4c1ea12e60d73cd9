"""Where solutions come from. One seam: `Model.generate(Request) -> Reply`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from kbench.types import Problem, ReplyFacts, Solution


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, object]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model made it. `arguments` is its own text, JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a call is answered with."""

    id: str
    name: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """`calls` are the assistant's, `results` the user's, one a call before it, then the text. `own`: the assistant's words as
    its provider wants them back (signed thoughts among them), as JSON; empty where the text and the calls will do."""

    role: Literal["user", "assistant"]
    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    own: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at one problem, or one turn of it: the conversation so far, which ends with what is asked now."""

    problem: Problem
    sample: int  # from 0
    system: str = ""
    messages: tuple[Message, ...] = ()  # empty where no model is asked
    turn: int = 0  # from 0
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a text to take code from, or a solution as it is (a file, a baseline)."""

    text: str = ""
    finished: bool = True  # it ended by itself, not at a token limit
    refused: bool = False
    solution: Solution | None = None
    facts: ReplyFacts | None = None  # None where no model was asked
    origin: str = ""
    thinking: str = field(default="", compare=False)  # as far as the provider shows it; never taken for code
    calls: tuple[Call, ...] = ()  # where tools were offered
    own: str = field(default="", compare=False)  # of Message


class Model(Protocol):
    """`generate` returns None where there is nothing for this attempt; that is reported as missing, not invented.

    ModelError where nothing can be had from this model until someone mends the command; ModelUnavailable where this
    request failed and may go through later.
    """

    name: str
    exempt: bool  # a baseline: no policy applies to it

    def generate(self, request: Request) -> Reply | None: ...
