"""What a provider's stream brings, in kbench's words. A provider module turns its SDK's events into these, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """Why a reply ended."""

    DONE = "done"
    LENGTH = "length"
    REFUSED = "refused"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Words of a refusal that the provider marks as one."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The start of a call; `at` is its place among the calls of the reply."""

    name: str
    id: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Arguments:
    """More of the text of a call's arguments."""

    text: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Own:
    """One block of the reply as its provider wants it back."""

    block: dict[str, object]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts so far, cumulative: a later one takes the place of an earlier one, field by field where it is not None."""

    input: int | None = None  # cached ones included
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    cache_written: int | None = None


@dataclass(frozen=True, slots=True)
class Named:
    model: str  # as the server names it
    retries: int | None = None  # of the SDK before the stream began


@dataclass(frozen=True, slots=True)
class Stop:
    ending: Ending
    reason: str  # the provider's word
    detail: str | None = None  # and what it says beside it, as JSON


Piece = Text | Thought | Refusal | ToolCall | Arguments | Own | Tokens | Named | Stop
