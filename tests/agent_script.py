"""A model that plays a script: what it says depends on how often it has spoken in the conversation, whatever the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kbench.registry import builtin_root

from .fake_provider import Answer

RIGHT = (builtin_root() / "solutions/level1/019_relu.py").read_text()
WRONG = RIGHT.replace("x[i] < 0 ? 0 : x[i]", "x[i] < 0 ? 0 : x[i] * 1.01f")
SLOW = RIGHT.replace("#pragma omp parallel for simd schedule(static)", "#pragma GCC novector")

ITEMS = ("function_call", "function_call_output", "reasoning")  # of the Responses API, which have no role
Step = Answer | Callable[[str], Answer]


def call(name: str, **arguments: Any) -> tuple[str, str]:
    return name, json.dumps(arguments)


def bash(command: str) -> Answer:
    return Answer(calls=(call("Bash", command=command),))


def says(*calls: tuple[str, str], text: str = "", thinking: str = "") -> Answer:
    return Answer(text, thinking, calls=calls)


def write(code: str, *more: tuple[str, str]) -> Answer:
    """model_new.py anew, whatever was there."""
    fresh = ("Bash", json.dumps({"command": "rm -f model_new.py"}))
    return Answer(calls=(fresh, call("Write", file_path="model_new.py", content=code), *more))


def spoken(prompt: str) -> int:
    """How many replies of the model stand in the conversation."""
    for part in json.loads(prompt):
        if isinstance(part, list) and any("role" in item or item.get("type") in ITEMS for item in part):
            turns, before = 0, False
            for item in part:
                own = item.get("role") in ("assistant", "model") or item.get("type") in ("function_call", "reasoning")
                turns += own and not before
                before = own
            return turns
    return 0


def script(*steps: Step) -> Callable[[str], Answer]:
    """The steps one after another; the last one again and again."""

    def answer(prompt: str) -> Answer:
        step = steps[min(spoken(prompt), len(steps) - 1)]
        return step(prompt) if callable(step) else step

    return answer


def by_problem(scripts: dict[str, Callable[[str], Answer]]) -> Callable[[str], Answer]:
    """Another script for each problem whose name stands in the conversation."""
    return lambda prompt: next(play(prompt) for name, play in scripts.items() if name in prompt)
