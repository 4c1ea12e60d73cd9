"""How a model is asked: limits, sampling, reasoning, connection. From flags and `-M key=value`, the latter last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from kbench.errors import ConfigError

BODY = "body."  # -M body.top_k=20 goes into the request as it is
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
APIS = ("auto", "responses", "chat")
# Of a reply, reasoning included, where the user names none. A local server has a limit of its own, which depends on the prompt.
DEFAULT_MAX_TOKENS: dict[str, int | None] = {"anthropic": 32_000, "google": 32_768, "openai": 32_768, "local": None}
PRICED_AS: dict[str, str | None] = {"anthropic": "anthropic", "google": "google", "openai": "openai", "local": None}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """None leaves the choice to the provider, and is recorded as None."""

    max_tokens: int | None = None  # of a reply, reasoning included; None is the provider's entry in DEFAULT_MAX_TOKENS
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None  # sample k is asked with seed + k
    reasoning_effort: str | None = None
    thinking_budget: int | None = None  # tokens
    base_url: str | None = None
    api: str = "auto"  # openai/ only
    timeout_s: float = 600.0  # without a word from the server, not of a whole reply
    retries: int = 8  # of the SDK, with its own back-off
    body: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reasoning_effort is not None and self.reasoning_effort not in EFFORTS:
            raise ConfigError(f"reasoning_effort {self.reasoning_effort!r}: give one of {', '.join(EFFORTS)}")
        if self.api not in APIS:
            raise ConfigError(f"api {self.api!r}: give one of {', '.join(APIS)}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens {self.max_tokens}: give at least 1")
        if self.timeout_s <= 0 or self.retries < 0:
            raise ConfigError("timeout_s must be above 0, and retries 0 or more")


def with_options(settings: ModelSettings, options: Iterable[str]) -> ModelSettings:
    """`settings` with each `key=value` in place. ConfigError names an option that is none, with those that there are."""
    types = {f.name: str(f.type).split(" ")[0] for f in fields(ModelSettings) if f.name != "body"}
    changes: dict[str, Any] = {}
    body = dict(settings.body)
    for option in options:
        key, equals, text = option.partition("=")
        if not equals:
            raise ConfigError(f"-M {option!r}: give key=value")
        if key.startswith(BODY):
            body[key.removeprefix(BODY)] = _literal(text)
        elif key in types:
            changes[key] = _typed(key, text, types[key])
        else:
            raise ConfigError(
                f"-M {key}: there are {', '.join(types)}, and {BODY}NAME for a field of the request itself"
            )
    return replace(settings, **changes, body=body)


def _typed(key: str, text: str, kind: str) -> object:
    try:
        return {"int": int, "float": float, "str": str}[kind](text)
    except ValueError as error:
        raise ConfigError(f"-M {key}={text}: wanted {'a whole number' if kind == 'int' else 'a number'}") from error


def _literal(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
