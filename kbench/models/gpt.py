"""openai/NAME, and local/NAME: any OpenAI-compatible server. Responses API, or Chat Completions where a server has only that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from kbench.models import Request, openai_chat, openai_responses
from kbench.models.failures import (
    DECLINED_CODES,
    Broken,
    Declined,
    connection_failure,
    missing_key,
    one_line,
    status_failure,
)
from kbench.models.pieces import Piece
from kbench.models.settings import DEFAULT_MAX_TOKENS, PRICED_AS, ModelSettings

LOCAL_URL = "http://localhost:8000/v1"
LOCAL_KEY = "LOCAL_API_KEY"  # never OPENAI_API_KEY: that is not for a stranger's server
REASONING = re.compile(r"(?:o\d|gpt-5)")  # these take no temperature


class Gpt:
    def __init__(self, model: str, settings: ModelSettings, local: bool) -> None:
        self.model, self.settings, self.local = model, settings, local
        self.name = f"{'local' if local else 'openai'}/{model}"
        self.key = LOCAL_KEY if local else "OPENAI_API_KEY"
        if not local and not os.environ.get(self.key):
            raise missing_key(self.name, (self.key,))
        import openai  # takes a second

        self.sdk: Any = openai
        provider = "local" if local else "openai"
        self.prices = PRICED_AS[provider]
        self.max_tokens = settings.max_tokens or DEFAULT_MAX_TOKENS[provider]
        self.client = openai.OpenAI(
            api_key=os.environ.get(self.key) or "none",
            base_url=settings.base_url or (LOCAL_URL if local else None),
            max_retries=settings.retries,
            timeout=openai.Timeout(settings.timeout_s, connect=10),
        )
        self.own_server = "api.openai.com" not in self.url
        self.api = "chat" if local else settings.api
        self.takes_temperature = local or REASONING.match(model) is None

    @property
    def url(self) -> str:
        return str(self.client.base_url)

    def fields(self, sample: int, chat: bool) -> dict[str, object]:
        if chat:
            return openai_chat.fields_of(self.settings, self.takes_temperature, sample)
        return openai_responses.fields_of(self.settings, self.takes_temperature)

    def sent(self, sample: int) -> dict[str, object]:
        chat = self.api == "chat"
        return {
            "api": "chat" if chat else "responses", "max_tokens": self.max_tokens, "temperature": None, "top_p": None,
            "seed": None, **self.fields(sample, chat), **self.settings.body,
        }  # fmt: skip

    def pieces(self, request: Request) -> Iterator[Piece]:
        if self.api == "auto" and self.own_server:
            yield from self._responses_or_chat(request)
        elif self.api == "chat":
            yield from self._chat(request)
        else:
            yield from self._responses(request)

    def _responses_or_chat(self, request: Request) -> Iterator[Piece]:
        """A server that does not know the path of the Responses API is asked by Chat Completions from then on."""
        try:
            yield from self._responses(request)
        except (self.sdk.NotFoundError, self.sdk.APIStatusError) as error:
            if error.status_code not in (404, 405, 501) or error.code == "model_not_found":
                raise
            self.api = "chat"
            yield from self._chat(request)
        else:
            self.api = "responses"

    def _responses(self, request: Request) -> Iterator[Piece]:
        fields, body = self.fields(request.sample, chat=False), self.settings.body
        return openai_responses.pieces(self.client, self.model, self.max_tokens, fields, body, request)

    def _chat(self, request: Request) -> Iterator[Piece]:
        # OpenAI's own newer models take only the longer name; other servers mostly know only the shorter one.
        word = "max_tokens" if self.own_server else "max_completion_tokens"
        limit = {word: self.max_tokens} if self.max_tokens is not None else {}
        return openai_chat.pieces(
            self.client, self.model, limit, self.fields(request.sample, chat=True), self.settings.body, request
        )

    def explain(self, error: Exception, begun: bool) -> Exception:
        sdk, name = self.sdk, self.name
        if isinstance(error, sdk.APIStatusError):
            return status_failure(name, self.key, error.status_code, error.code, _message(error))
        if isinstance(error, openai_responses.ResponseFailed):
            if error.code in DECLINED_CODES:
                return Declined(error.code, one_line(error.message))
            if error.code not in openai_responses.TRANSIENT:
                return status_failure(name, self.key, 400, error.code, error.message)
        if isinstance(error, sdk.APIConnectionError) and not begun:
            return connection_failure(name, self.url, error)
        return Broken(f"{name}: the reply broke off: {type(error).__name__}: {one_line(str(error))}")

    def check(self, timeout_s: float) -> bool:
        """A hosted model is asked for by its name; a local server says what it has."""
        if not self.local:
            self.client.with_options(timeout=timeout_s, max_retries=0).models.retrieve(self.model)
            return True
        there = self.names(timeout_s)
        if there and self.model not in there:
            raise KeyError(self.model)
        return bool(there)

    def close(self) -> None:
        self.client.close()

    def names(self, timeout_s: float) -> list[str]:
        return [model.id for model in self.client.with_options(timeout=timeout_s, max_retries=0).models.list().data]


def _message(error: Any) -> str:
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return str(message or error)
