"""google/NAME: google-genai's generate_content, always streamed."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from kbench.errors import ConfigError
from kbench.models import Message, Request
from kbench.models.arguments import arguments_object
from kbench.models.failures import Broken, connection_failure, missing_key, one_line, status_failure
from kbench.models.pieces import Arguments, Ending, Named, Own, Piece, Stop, Text, Thought, Tokens, ToolCall
from kbench.models.settings import DEFAULT_MAX_TOKENS, PRICED_AS, ModelSettings

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
RETRIED = [408, 429, 500, 502, 503, 504, 529]  # google-genai retries only what it is told to
REPLY_LIMIT_S = "3600"  # told to the server; without a word the SDK tells it the time-out between two chunks
OUR_ID = "kbench_call_"
ENDINGS = {
    "STOP": Ending.DONE, "MAX_TOKENS": Ending.LENGTH, "CONTINUATION": Ending.LENGTH,
    "SAFETY": Ending.REFUSED, "PROHIBITED_CONTENT": Ending.REFUSED, "BLOCKLIST": Ending.REFUSED, "SPII": Ending.REFUSED,
    "RECITATION": Ending.REFUSED, "MODEL_ARMOR": Ending.REFUSED, "ESCALATION": Ending.REFUSED,
    "PUP_LIMITED_DISABLED": Ending.REFUSED, "MALFORMED_FUNCTION_CALL": Ending.TOOL, "UNEXPECTED_TOOL_CALL": Ending.TOOL,
    "TOO_MANY_TOOL_CALLS": Ending.TOOL,
}  # fmt: skip


class Gemini:
    prices = PRICED_AS["google"]

    def __init__(self, model: str, settings: ModelSettings) -> None:
        if not any(os.environ.get(key) for key in KEYS):
            raise missing_key(f"google/{model}", KEYS)
        from google import genai  # takes a second
        from google.genai import errors, types

        self.types, self.errors, self.model, self.settings = types, errors, model, settings
        self.max_tokens = settings.max_tokens or DEFAULT_MAX_TOKENS["google"]
        self.fields = self._fields()
        self.attempts = threading.local()
        # Named rather than left to the SDK, which warns where both are set.
        self.client = genai.Client(
            api_key=os.environ.get("GOOGLE_API_KEY") or os.environ["GEMINI_API_KEY"],
            http_options=self._http(settings.timeout_s, settings.retries + 1),
        )

    @property
    def url(self) -> str:
        base = self.settings.base_url or os.environ.get("GOOGLE_GEMINI_BASE_URL")
        return base or "https://generativelanguage.googleapis.com"

    def _http(self, timeout_s: float, attempts: int) -> Any:
        return self.types.HttpOptions(
            base_url=self.settings.base_url, timeout=int(timeout_s * 1000), headers={"X-Server-Timeout": REPLY_LIMIT_S},
            retry_options=self.types.HttpRetryOptions(attempts=attempts, http_status_codes=RETRIED, max_delay=30),
            client_args={"event_hooks": {"request": [self._count]}},
        )  # fmt: skip

    def _count(self, _: Any) -> None:
        """Called by the HTTP client for every request that it sends, in the thread that asked."""
        self.attempts.made = getattr(self.attempts, "made", 0) + 1

    def _fields(self) -> dict[str, object]:
        wanted = self.settings
        fields: dict[str, object] = {k: v for k in ("temperature", "top_p") if (v := getattr(wanted, k)) is not None}
        thinking: dict[str, object] = {}
        if wanted.thinking_budget is not None:
            thinking["thinking_budget"] = wanted.thinking_budget
        if wanted.reasoning_effort == "none":
            thinking["thinking_budget"] = 0
        elif wanted.reasoning_effort is not None:
            level = wanted.reasoning_effort.upper()
            if level not in self.types.ThinkingLevel.__members__:
                raise ConfigError(
                    f"google/ has no reasoning effort {wanted.reasoning_effort!r}; give low, medium or high"
                )
            thinking["thinking_level"] = level
        return {**fields, **({"thinking_config": thinking} if thinking else {})}

    def seed(self, sample: int) -> int | None:
        return None if self.settings.seed is None else self.settings.seed + sample

    def sent(self, sample: int) -> dict[str, object]:
        return {
            "max_tokens": self.max_tokens, "temperature": None, "top_p": None, "seed": self.seed(sample), **self.fields,
            **self.settings.body,
        }  # fmt: skip

    def pieces(self, request: Request) -> Iterator[Piece]:
        types = self.types
        seed = {} if (given := self.seed(request.sample)) is None else {"seed": given}
        body = {"http_options": types.HttpOptions(extra_body=self.settings.body)} if self.settings.body else {}
        config = types.GenerateContentConfig(
            system_instruction=request.system or None, max_output_tokens=self.max_tokens, **self.fields, **seed, **body,
            **self._tools(request),
        )  # fmt: skip
        contents = [
            types.Content(role="user" if m.role == "user" else "model", parts=self._parts(m)) for m in request.messages
        ]
        self.attempts.made = 0
        calls = itertools.count()
        for chunk in self.client.models.generate_content_stream(model=self.model, contents=contents, config=config):
            yield Named(chunk.model_version or self.model, max(0, self.attempts.made - 1))
            yield from _pieces_of(chunk, calls)

    def _tools(self, request: Request) -> dict[str, Any]:
        if not request.tools:
            return {}
        types = self.types
        declared = [
            types.FunctionDeclaration(name=t.name, description=t.description, parameters_json_schema=t.parameters)
            for t in request.tools
        ]
        return {
            "tools": [types.Tool(function_declarations=declared)],
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        }

    def _parts(self, message: Message) -> list[Any]:
        """What the model said goes back with the signatures of its thoughts, as it came."""
        types = self.types
        if message.own:
            return [types.Part.model_validate(part) for part in json.loads(message.own)]
        parts = [
            types.Part(
                function_response=types.FunctionResponse(
                    name=r.name,
                    response={"error" if r.failed else "output": r.text},
                    **({"id": r.id} if _theirs(r.id) else {}),
                )
            )
            for r in message.results
        ]
        parts += [types.Part(text=message.text)] if message.text or not (parts or message.calls) else []
        return parts + [
            types.Part(function_call=types.FunctionCall(name=c.name, args=arguments_object(c.arguments)))
            for c in message.calls
        ]

    def explain(self, error: Exception, begun: bool) -> Exception:
        name = f"google/{self.model}"
        if isinstance(error, self.errors.APIError):
            said = str(error.message or error)
            if error.code == 400 and "API key" in said:
                return status_failure(name, " or ".join(KEYS), 401, error.status, said)
            if not begun or error.code not in RETRIED:
                return status_failure(name, " or ".join(KEYS), error.code, error.status, said)
        elif not begun and any(kind in type(error).__name__ for kind in ("Timeout", "ConnectError")):
            return connection_failure(name, self.url, error)
        return Broken(f"{name}: the reply broke off: {type(error).__name__}: {one_line(str(error))}")

    def check(self, timeout_s: float) -> bool:
        self.client.models.get(model=self.model, config={"http_options": self._http(timeout_s, 1)})
        return True

    def close(self) -> None:
        self.client.close()

    def names(self, timeout_s: float) -> list[str]:
        page = self.client.models.list(config={"http_options": self._http(timeout_s, 1), "page_size": 1000})
        return [str(model.name).removeprefix("models/") for model in page.page]


def _theirs(ident: str) -> bool:
    """Whether the id of a call is the server's; where it gave none the call has ours, which it does not know."""
    return not ident.startswith(OUR_ID)


def _pieces_of(chunk: Any, calls: Iterator[int]) -> Iterator[Piece]:
    usage = chunk.usage_metadata
    if usage is not None:
        # Google leaves out a count that is zero.
        yield Tokens(
            usage.prompt_token_count or 0, usage.candidates_token_count or 0, usage.thoughts_token_count or 0,
            usage.cached_content_token_count or 0,
        )  # fmt: skip
    blocked = chunk.prompt_feedback.block_reason if chunk.prompt_feedback is not None else None
    if blocked is not None:
        yield Stop(Ending.REFUSED, str(blocked.value), _detail(chunk.prompt_feedback))
    for candidate in (chunk.candidates or [])[:1]:
        for part in (candidate.content.parts if candidate.content is not None else None) or []:
            if part.function_call is not None:
                at = next(calls)
                yield ToolCall(str(part.function_call.name), part.function_call.id or f"{OUR_ID}{at}", at)
                yield Arguments(json.dumps(part.function_call.args or {}), at)
            elif part.text:
                yield Thought(part.text) if part.thought else Text(part.text)
            if not part.thought:
                yield Own(part.model_dump(mode="json", exclude_none=True))
        if candidate.finish_reason is not None:
            reason = str(candidate.finish_reason.value)
            if reason == "MALFORMED_RESPONSE":
                raise ValueError("finish reason MALFORMED_RESPONSE")
            yield Stop(ENDINGS.get(reason, Ending.OTHER), reason, _candidate_detail(candidate))


def _detail(model: Any) -> str | None:
    found = model.model_dump(mode="json", exclude_none=True)
    return json.dumps(found) if found else None


def _candidate_detail(candidate: Any) -> str | None:
    found = candidate.model_dump(mode="json", exclude_none=True, include={"finish_message", "safety_ratings"})
    return json.dumps(found) if found else None
