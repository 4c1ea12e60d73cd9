"""Where solutions come from. One seam: `Model.generate(Request) -> Reply`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kbench.types import Problem, ReplyFacts, Solution


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at one problem."""

    problem: Problem
    sample: int  # from 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a text to take code from, or a solution as it is (a file, a baseline)."""

    text: str = ""
    finished: bool = True  # it ended by itself, not at a token limit
    refused: bool = False
    solution: Solution | None = None
    facts: ReplyFacts | None = None  # None where no model was asked
    origin: str = ""


class Model(Protocol):
    """`generate` returns None where there is nothing for this attempt; that is reported as missing, not invented."""

    name: str
    exempt: bool  # a baseline: no policy applies to it

    def generate(self, request: Request) -> Reply | None: ...


def open_model(name: str) -> Model:
    """The model called provider/name. ConfigError, with what there is, where it is unknown."""
    from kbench.errors import ConfigError

    provider, _, rest = name.partition("/")
    if provider == "builtin":
        from kbench.models.builtin import Builtin

        return Builtin(name)
    if provider == "replay":
        from kbench.models.replay import Replay

        return Replay(rest)
    raise ConfigError(f"no model {name!r}; there are builtin/eager, builtin/compile and replay/PATH")
