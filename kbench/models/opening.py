"""A model by its name: provider/name, split at the first slash. A bare claude-*, gemini-*, gpt-* or o<digit>* finds its own."""

from __future__ import annotations

import re

from kbench.errors import ConfigError
from kbench.models import Model
from kbench.models.builtin import MODES
from kbench.models.settings import ModelSettings

BARE = (
    (re.compile(r"claude-.+"), "anthropic"), (re.compile(r"gemini-.+"), "google"), (re.compile(r"(?:gpt-.+|o\d.*)"), "openai"),
)  # fmt: skip
WORDS = {"claud": "anthropic", "gemini": "google", "gpt": "openai"}  # in a name without a provider
REMOTE = ("anthropic", "google", "openai", "local")


def full_name(name: str) -> str:
    if "/" in name:
        return name
    found = next((provider for pattern, provider in BARE if pattern.fullmatch(name)), None)
    return f"{found}/{name}" if found else name


def open_model(name: str, settings: ModelSettings | None = None) -> Model:
    """The model called `name`. ConfigError, with what there is, where it is unknown; ModelError where its key is missing."""
    name = full_name(name)
    provider, _, rest = name.partition("/")
    if provider == "builtin":
        from kbench.models.builtin import Builtin

        return Builtin(name)
    if provider == "replay":
        from kbench.models.replay import Replay

        return Replay(rest)
    if provider in REMOTE:
        from kbench.models.remote import open_remote

        return open_remote(name, settings or ModelSettings())
    known = ", ".join(f"{provider}/NAME" for provider in REMOTE)
    meant = next((provider for word, provider in WORDS.items() if word in name.lower()), None)
    hint = f"; did you mean {meant}/NAME?" if meant else ""
    raise ConfigError(f"no model {name!r}: there are {known}, agent/PRESET, {', '.join(MODES)} and replay/PATH{hint}")
