"""Where solutions come from. One seam: `Model.generate(Request) -> Reply`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from kbench.types import Problem, ReplyFacts, Solution


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at one problem, or one turn of it: the conversation so far, which ends with what is asked now."""

    problem: Problem
    sample: int  # from 0
    system: str = ""
    messages: tuple[Message, ...] = ()  # empty where no model is asked
    turn: int = 0  # from 0


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


class Model(Protocol):
    """`generate` returns None where there is nothing for this attempt; that is reported as missing, not invented.

    ModelError where nothing can be had from this model until someone mends the command; ModelUnavailable where this
    request failed and may go through later.
    """

    name: str
    exempt: bool  # a baseline: no policy applies to it

    def generate(self, request: Request) -> Reply | None: ...
